import { once } from "node:events";
import { PassThrough } from "node:stream";
import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import type { ImportRecordsRequest, ImportRecordsResponse, ImportServiceService, ImportStart } from "@brand-records/proto/records/v1";
import { isResourceName, RESOURCE_NAMES, type ResourceName } from "@brand-records/resources";
import type { Handlers } from "@brand-records/rpc";
import { importRecords } from "../importing/import-records.ts";

/** @param importsMax under way at once; more are refused, not queued: a queued import would hold its sender's input open */
export function importHandlers(db: Database, importsMax: number): Handlers<ImportServiceService> {
  let underWay = 0;
  return {
    async *importRecords(requests) {
      if (underWay >= importsMax) {
        throw new AppError("unavailable", `${importsMax} imports are under way already. Try again when one of them has ended.`, {
          retryAfterSeconds: 10,
        });
      }
      underWay += 1;
      // The import runs inside a transaction while its reports stream out: a pipe between the two.
      const responses = new PassThrough({ objectMode: true });
      const closed = new AbortController();
      responses.once("close", () => closed.abort());
      const report = async (response: ImportRecordsResponse): Promise<void> => {
        // Rejects when the receiver is gone: waiting for it would keep the transaction open for good.
        if (!responses.write(response)) await once(responses, "drain", closed);
      };
      const imported = runImport(db, requests, report)
        .then(
          () => void responses.end(),
          (error: unknown) => void responses.destroy(AppError.from(error)),
        )
        .finally(() => (underWay -= 1));
      yield* responses as AsyncIterable<ImportRecordsResponse>;
      await imported;
    },
  };
}

async function runImport(
  db: Database,
  requests: AsyncIterable<ImportRecordsRequest>,
  report: (response: ImportRecordsResponse) => Promise<void>,
): Promise<void> {
  const messages = requests[Symbol.asyncIterator]();
  const first = await messages.next();
  const start = checkStart(first.done === true ? undefined : first.value.start);
  const chunks = chunksOf({ [Symbol.asyncIterator]: () => messages });
  const summary = await importRecords(db, { ...start, chunks, report });
  await report({ summary });
}

/** Until the commit is asked for. Rejects if the stream ends without it, for whatever reason. */
async function* chunksOf(messages: AsyncIterable<ImportRecordsRequest>): AsyncGenerator<readonly string[]> {
  for await (const { chunk, commit } of messages) {
    if (commit != null) return;
    if (chunk == null) throw new AppError("invalid_request", "Between start and commit, every message carries a chunk", { field: "chunk" });
    yield chunk.lines;
  }
  throw new AppError("request_timeout", "The import was broken off before its commit; nothing was imported");
}

function checkStart(start: ImportStart | null | undefined): { brandId: string; resource: ResourceName; skipBad: boolean } {
  if (start == null) throw new AppError("invalid_request", "The first message must carry start", { field: "start" });
  if (!/^brd_[0-9a-z]{1,40}$/.test(start.brand_id))
    throw new AppError("invalid_request", "brand_id must be a brand's id", { field: "brand_id" });
  if (!isResourceName(start.resource)) {
    throw new AppError("invalid_request", `resource must be one of ${RESOURCE_NAMES.join(", ")}`, { field: "resource" });
  }
  return { brandId: start.brand_id, resource: start.resource, skipBad: start.skip_bad };
}
