import { AppError } from "@brand-records/errors";
import { ImportServiceService, type ImportRecordsResponse, type ImportStart } from "@brand-records/proto/records/v1";
import { isResourceName, RESOURCES } from "@brand-records/resources";
import { service, type Handlers, type ServedService } from "@brand-records/rpc";

type Handler = Handlers<ImportServiceService>["importRecords"];

export const importService = (importRecords: Handler): ServedService => service(ImportServiceService, { importRecords });

/** Checks lines as the records service does, and keeps the records that were committed. */
export class FakeImports {
  readonly starts: ImportStart[] = [];
  /** Keys are ids. */
  readonly records = new Map<string, object>();
  /** The lines as they arrived, by chunk. */
  readonly chunks: (readonly string[])[] = [];
  /** How many lines each cancelled import had sent. */
  readonly cancelled: number[] = [];

  readonly served: ServedService = importService((requests) => this.#import(requests));

  async *#import(requests: Parameters<Handler>[0]): AsyncGenerator<ImportRecordsResponse> {
    const good: { readonly id: string }[] = [];
    let skipBad = false;
    let resource = "";
    let lines = 0;
    let bad = 0;
    let commits = false;
    for await (const { start, chunk, commit } of requests) {
      if (start != null) {
        this.starts.push(start);
        skipBad = start.skip_bad;
        resource = start.resource;
      }
      commits = commit != null;
      if (chunk == null) continue;
      this.chunks.push(chunk.lines);
      for (const text of chunk.lines) {
        lines += 1;
        if (text.trim() === "") continue;
        const checked = check(resource, text);
        if ("record" in checked) good.push(checked.record);
        else {
          bad += 1;
          for (const problem of checked.problems) yield { problem: { line: lines, ...problem } };
        }
      }
      yield { progress: { lines } };
    }
    if (!commits) {
      this.cancelled.push(lines);
      throw new AppError("request_timeout", "The import was broken off before its commit; nothing was imported");
    }
    const committed = bad === 0 || skipBad;
    if (committed) for (const record of good) this.records.set(record.id, record);
    yield { summary: { lines, inserted: committed ? good.length : 0, updated: 0, unchanged: 0, bad, committed } };
  }
}

type Checked = { readonly record: { readonly id: string } } | { readonly problems: readonly { field?: string; message: string }[] };

function check(resource: string, text: string): Checked {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problems: [{ message: "is not valid JSON" }] };
  }
  if (!isResourceName(resource)) return { problems: [{ message: `${resource} is not a resource` }] };
  const parsed = RESOURCES[resource].schema.safeParse(value);
  if (parsed.success) return { record: parsed.data };
  return { problems: parsed.error.issues.map(({ path, message }) => ({ field: path.join("."), message })) };
}
