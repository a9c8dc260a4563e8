import { once } from "node:events";
import { AppError } from "@brand-records/errors";
import type { ImportProblem, ImportRecordsRequest, ImportRecordsResponse, ImportSummary } from "@brand-records/proto/records/v1";
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
  lines: AsyncIterable<InputLine> | Iterable<InputLine>,
  onProgress: (progress: { readonly lines: number }) => void = () => undefined,
): Promise<ImportResult> {
  const stream = client.importRecords(newCallContext(IMPORT_MS));
  const sender = new Sender(stream);
  const cancel = (): void => sender.cancel();
  signal?.addEventListener("abort", cancel);
  if (signal?.aborted === true) cancel();
  let failedInput: { readonly error: unknown } | undefined;
  // Nobody waits for it: it may hang on an endless input. If it fails it cancels the stream, which ends the receiving.
  void sender.send({ brand_id: brandId, resource, skip_bad: skipBad }, lines).catch((error: unknown) => (failedInput = { error }));
  try {
    return await receive(stream, sender, onProgress);
  } catch (error) {
    throw failedInput === undefined ? broken(error, sender, signal) : failedInput.error;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

function broken(error: unknown, { hasEnded }: Sender, signal: AbortSignal | undefined): unknown {
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

async function receive(stream: ImportStream, sender: Sender, onProgress: (progress: { lines: number }) => void): Promise<ImportResult> {
  const problems: ImportProblem[] = [];
  let summary: ImportSummary | undefined;
  try {
    for await (const { progress, problem, summary: last } of stream as AsyncIterable<ImportRecordsResponse>) {
      if (progress != null) onProgress(progress);
      if (problem != null && problems.length < PROBLEMS_MAX) problems.push(sender.localProblem(problem));
      if (last != null) summary = last;
    }
  } finally {
    sender.stop();
  }
  if (summary === undefined) {
    throw new ImportBroken(new AppError("internal_error", "The records service ended the import without a summary."), !sender.hasEnded);
  }
  return { summary, problems };
}

/** Sends the lines in chunks, at the pace of the service. */
class Sender {
  readonly #stream: ImportStream;
  readonly #stopped = new AbortController();
  /** Why lines could not be sent, by line number; at most PROBLEMS_MAX. */
  readonly #unreadable = new Map<number, string>();
  #lines = 0;
  #hasEnded = false;

  constructor(stream: ImportStream) {
    this.#stream = stream;
  }

  /** Whether the commit was requested. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  async send(
    start: { brand_id: string; resource: string; skip_bad: boolean },
    lines: AsyncIterable<InputLine> | Iterable<InputLine>,
  ): Promise<void> {
    try {
      await this.#write({ start });
      let chunk: string[] = [];
      let bytes = 0;
      for await (const line of lines) {
        if (this.#stopped.signal.aborted) return;
        const text = this.#sendable(line);
        const size = Buffer.byteLength(text);
        if (chunk.length === CHUNK_LINES_MAX || (bytes + size > CHUNK_BYTES_MAX && chunk.length > 0)) {
          await this.#write({ chunk: { lines: chunk } });
          chunk = [];
          bytes = 0;
        }
        chunk.push(text);
        bytes += size;
      }
      if (chunk.length > 0) await this.#write({ chunk: { lines: chunk } });
      if (this.#stopped.signal.aborted) return;
      this.#hasEnded = true;
      this.#stream.end({ commit: {} });
    } catch (error) {
      // The rest of the input cannot be read: what was sent must not be committed.
      this.cancel();
      throw error;
    }
  }

  /** Stops sending. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Nothing is committed, unless the commit was requested already. */
  cancel(): void {
    this.#stopped.abort();
    this.#stream.cancel();
  }

  /** Replaces the service's problem about a PLACEHOLDER by the reason why the line was not sent. Leaves out an empty field. */
  localProblem(problem: ImportProblem): ImportProblem {
    const message = this.#unreadable.get(problem.line);
    if (message !== undefined) return { line: problem.line, message };
    return problem.field == null ? { line: problem.line, message: problem.message } : problem;
  }

  #sendable(line: InputLine): string {
    this.#lines += 1;
    const unreadable = typeof line === "string" ? (isTooLong(line) ? TOO_LONG : undefined) : line.unreadable;
    if (unreadable === undefined) return line as string;
    if (this.#unreadable.size < PROBLEMS_MAX) this.#unreadable.set(this.#lines, unreadable);
    return PLACEHOLDER;
  }

  async #write(message: ImportRecordsRequest): Promise<void> {
    const { signal } = this.#stopped;
    if (signal.aborted || this.#stream.write(message)) return;
    // A failed stream never drains; `receive` reports the failure.
    await once(this.#stream, "drain", { signal }).catch(() => this.#stopped.abort());
  }
}
