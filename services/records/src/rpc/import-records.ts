import { once } from "node:events";
import { PassThrough } from "node:stream";
import { AppError, parseRequest } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import type { ImportRecordsRequest, ImportRecordsResponse, ImportServiceService, ImportStart } from "@brand-records/proto/records/v1";
import { RESOURCE_NAMES, type ResourceName } from "@brand-records/resources";
import type { Handlers } from "@brand-records/rpc";
import { idField } from "@brand-records/service-runtime";
import { z } from "zod";
import { importRecords } from "../use-cases/import-records.ts";

/** @param importsMax concurrent imports; more are refused rather than queued, because a queued import would block its client's input */
export function importHandlers(db: Database, importsMax: number): Handlers<ImportServiceService> {
  let inProgress = 0;
  return {
    async *importRecords(requests) {
      if (inProgress >= importsMax) {
        throw new AppError("unavailable", `${importsMax} imports are in progress, the maximum. Try again when one has ended.`, {
          retryAfterSeconds: 10,
        });
      }
      inProgress += 1;
      // The import runs inside a transaction while its reports stream out through this pipe.
      const responses = new PassThrough({ objectMode: true });
      const closed = new AbortController();
      responses.once("close", () => closed.abort());
      const report = async (response: ImportRecordsResponse): Promise<void> => {
        // Rejects when the client has gone: waiting for "drain" would keep the transaction open forever.
        if (!responses.write(response)) await once(responses, "drain", closed);
      };
      const imported = runImport(db, requests, report)
        .then(
          () => void responses.end(),
          (error: unknown) => void responses.destroy(AppError.from(error)),
        )
        .finally(() => (inProgress -= 1));
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
  const start = startFrom(first.done === true ? undefined : first.value.start);
  const chunks = chunksOf({ [Symbol.asyncIterator]: () => messages });
  const summary = await importRecords(db, { ...start, chunks, report });
  await report({ summary });
}

/** Yields the chunks up to the commit message. Rejects if the stream ends without one, for any reason. */
async function* chunksOf(messages: AsyncIterable<ImportRecordsRequest>): AsyncGenerator<readonly string[]> {
  for await (const { chunk, commit } of messages) {
    if (commit != null) return;
    if (chunk == null)
      throw new AppError("invalid_request", "Every message between start and commit must carry a chunk", { field: "chunk" });
    yield chunk.lines;
  }
  throw new AppError("request_timeout", "The stream ended before the commit message; nothing was imported");
}

const startFields = {
  brand_id: idField("brd"),
  resource: z.enum(RESOURCE_NAMES, `must be one of ${RESOURCE_NAMES.join(", ")}`),
  skip_bad: z.boolean(),
};

function startFrom(start: ImportStart | null | undefined): { brandId: string; resource: ResourceName; skipBad: boolean } {
  if (start == null) throw new AppError("invalid_request", "The first message must carry start", { field: "start" });
  const { brand_id, resource, skip_bad } = parseRequest(startFields, start);
  return { brandId: brand_id, resource, skipBad: skip_bad };
}
