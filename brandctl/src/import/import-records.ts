import { once } from "node:events";
import { AppError } from "@brand-records/errors";
import type {
  ImportProblem,
  ImportRecordsRequest,
  ImportRecordsResponse,
  ImportStart,
  ImportSummary,
} from "@brand-records/proto/records/v1";
import type { ResourceName } from "@brand-records/resources";
import { fromServiceError, newCallContext } from "@brand-records/rpc";
import type { ImportClient } from "../connection/clients.ts";
import { isTooLong, TOO_LONG, type InputLine } from "./read-lines.ts";

type ImportStream = ReturnType<ImportClient["importRecords"]>;

/** An import takes as long as its input; one that has not ended by then hangs. */
const IMPORT_MS = 24 * 60 * 60 * 1_000;
const CHUNK_LINES_MAX = 500;
const CHUNK_BYTES_MAX = 1024 * 1024;
/** The most that the service sends. */
const PROBLEMS_MAX = 1_000;

/**
 * Sent in place of a line that cannot be sent. It is not JSON, so the service counts the line as bad, numbers the lines
 * after it correctly, and imports nothing without `skipBad`.
 */
const PLACEHOLDER = "\ufffd";

export interface ImportTarget {
  readonly brandId: string;
  readonly resource: ResourceName;
  /** Import the good lines and report the bad ones; false: one bad line and nothing is imported. */
  readonly skipBad: boolean;
  /** Cancels the import. */
  readonly signal?: AbortSignal;
}

export interface ImportResult {
  readonly summary: ImportSummary;
  /** At most 1,000, mostly in the order of lines; `summary.bad` counts all bad lines. */
  readonly problems: readonly ImportProblem[];
}

/** The import did not finish. `nothingImported` is false if the commit was requested and no response came. */
export class ImportBroken extends Error {
  override readonly name = "ImportBroken";
  readonly reason: AppError;
  readonly nothingImported: boolean;

  constructor(reason: AppError, nothingImported: boolean) {
    super(`${reason.message.replace(/\.?$/, ".")} ${nothingImported ? NOTHING : UNKNOWN}`, { cause: reason });
    this.reason = reason;
    this.nothingImported = nothingImported;
  }

  get outcome(): string {
    return this.nothingImported ? NOTHING : UNKNOWN;
  }
}

const NOTHING = "Nothing was imported.";
const UNKNOWN =
  "All lines were sent, so the import may have been committed or not. Run it again: records that were imported stay unchanged.";

/**
 * Imports lines of NDJSON in one transaction: all, all but the bad ones (`skipBad`), or none. Holds a few chunks at a time;
 * `lines` is read as fast as the service takes them, and closed at the end. Blank lines are counted and skipped.
 *
 * @param onProgress called after every chunk with the number of lines that the service has checked
 * @throws ImportBroken if the connection breaks, the service refuses or `signal` aborts; any error of `lines`
 */
export async function importRecords(
  client: Pick<ImportClient, "importRecords">,
  { brandId, resource, skipBad, signal }: ImportTarget,
  lines: Lines,
  onProgress: (progress: { readonly lines: number }) => void = () => undefined,
): Promise<ImportResult> {
  const stream = client.importRecords(newCallContext(IMPORT_MS));
  const sending: Sending = { stream, stopped: new AbortController(), unreadable: new Map(), hasEnded: false };
  // Nothing is committed then, unless the commit was requested already.
  const cancel = (): void => {
    sending.stopped.abort();
    stream.cancel();
  };
  signal?.addEventListener("abort", cancel);
  if (signal?.aborted === true) cancel();
  let failedInput: { readonly error: unknown } | undefined;
  // The reading is not awaited, as it may hang on an endless input. What was sent of an input that breaks off must not be committed.
  void send(sending, { brand_id: brandId, resource, skip_bad: skipBad }, lines).catch((error: unknown) => {
    failedInput = { error };
    cancel();
  });
  try {
    return await receive(sending, onProgress);
  } catch (error) {
    throw failedInput === undefined ? broken(error, sending, signal) : failedInput.error;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

type Lines = AsyncIterable<InputLine> | Iterable<InputLine>;

interface Sending {
  readonly stream: ImportStream;
  /** Ends the sending. */
  readonly stopped: AbortController;
  /** Why lines could not be sent, by line number; at most PROBLEMS_MAX. */
  readonly unreadable: Map<number, string>;
  /** Whether the commit was requested. */
  hasEnded: boolean;
}

function broken(error: unknown, { hasEnded }: Sending, signal: AbortSignal | undefined): unknown {
  if (!isServiceError(error)) return error;
  if (signal?.aborted === true)
    return new ImportBroken(new AppError("request_timeout", "The import was cancelled.", { cause: error }), !hasEnded);
  // After a refusal the service has rolled everything back. Without a response after the end the outcome is open.
  const refused = error.metadata.get("error-kind").length > 0;
  return new ImportBroken(fromServiceError(error), refused || !hasEnded);
}

type ServiceError = Parameters<typeof fromServiceError>[0];

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && "metadata" in error;
}

async function receive(sending: Sending, onProgress: (progress: { lines: number }) => void): Promise<ImportResult> {
  const problems: ImportProblem[] = [];
  let summary: ImportSummary | undefined;
  try {
    for await (const { progress, problem, summary: last } of sending.stream as AsyncIterable<ImportRecordsResponse>) {
      if (progress != null) onProgress(progress);
      if (problem != null && problems.length < PROBLEMS_MAX) problems.push(problemOf(problem, sending));
      if (last != null) summary = last;
    }
  } finally {
    sending.stopped.abort();
  }
  if (summary === undefined) {
    throw new ImportBroken(new AppError("internal_error", "The records service ended the import without a summary."), !sending.hasEnded);
  }
  return { summary, problems };
}

/** Replaces the service's problem about a PLACEHOLDER by the reason why the line was not sent. Leaves out an empty field. */
function problemOf({ line, field, message }: ImportProblem, { unreadable }: Sending): ImportProblem {
  const reason = unreadable.get(line);
  return reason === undefined && field != null ? { line, field, message } : { line, message: reason ?? message };
}

/** Sends the lines in chunks, at the pace of the service, and requests the commit. */
async function send(sending: Sending, start: ImportStart, lines: Lines): Promise<void> {
  const { stream, stopped } = sending;
  const { signal } = stopped;
  for await (const message of messagesOf(start, lines, sending)) {
    if (signal.aborted) return;
    // A failed stream never drains; `receive` reports the failure.
    if (!stream.write(message)) await once(stream, "drain", { signal }).catch(() => stopped.abort());
  }
  if (signal.aborted) return;
  sending.hasEnded = true;
  stream.end({ commit: {} });
}

async function* messagesOf(
  start: ImportStart,
  lines: Lines,
  { stopped: { signal }, unreadable }: Sending,
): AsyncGenerator<ImportRecordsRequest> {
  yield { start };
  let chunk: string[] = [];
  let [bytes, count] = [0, 0];
  for await (const line of lines) {
    if (signal.aborted) return;
    count += 1;
    const problem = typeof line === "string" ? (isTooLong(line) ? TOO_LONG : undefined) : line.unreadable;
    if (problem !== undefined && unreadable.size < PROBLEMS_MAX) unreadable.set(count, problem);
    const text = problem === undefined ? (line as string) : PLACEHOLDER;
    const size = Buffer.byteLength(text);
    if (chunk.length === CHUNK_LINES_MAX || (bytes + size > CHUNK_BYTES_MAX && chunk.length > 0)) {
      yield { chunk: { lines: chunk } };
      [chunk, bytes] = [[], 0];
    }
    chunk.push(text);
    bytes += size;
  }
  if (chunk.length > 0) yield { chunk: { lines: chunk } };
}
