import { once } from "node:events";
import { AppError } from "@brand-records/errors";
import type { ImportProblem, ImportRecordsRequest, ImportRecordsResponse, ImportSummary } from "@brand-records/proto/records/v1";
import type { ResourceName } from "@brand-records/resources";
import { fromServiceError } from "@brand-records/rpc";
import { callContext, type ImportClient } from "../connection/clients.ts";
import { isTooLong, TOO_LONG, type InputLine } from "./read-lines.ts";

type ImportStream = ReturnType<ImportClient["importRecords"]>;

/** An import takes as long as its input does; what has not ended by then hangs. */
const IMPORT_MS = 24 * 60 * 60 * 1_000;
const CHUNK_LINES_MAX = 500;
const CHUNK_BYTES_MAX = 1024 * 1024;
/** As many as the service sends. */
const PROBLEMS_MAX = 1_000;

/**
 * Stands for a line that cannot be sent. No JSON looks like it, so the service counts the line as bad, keeps count of the
 * lines after it, and imports nothing if it is to import all or nothing.
 */
const PLACEHOLDER = "\ufffd";

export interface ImportTarget {
  readonly brandId: string;
  readonly resource: ResourceName;
  /** Import the good lines and report the bad ones, instead of importing nothing. */
  readonly skipBad: boolean;
  /** Breaks the import off. */
  readonly signal?: AbortSignal;
}

export interface ImportResult {
  readonly summary: ImportSummary;
  /** At most 1,000, by line as a rule; `summary.bad` counts all bad lines. */
  readonly problems: readonly ImportProblem[];
}

/** The import came to no end. `nothingImported` is false when the commit had been asked for and no answer came. */
export class ImportBroken extends Error {
  override readonly name = "ImportBroken";
  readonly reason: AppError;
  readonly nothingImported: boolean;

  constructor(reason: AppError, nothingImported: boolean) {
    super(`${reason.message} ${nothingImported ? NOTHING : UNKNOWN}`, { cause: reason });
    this.reason = reason;
    this.nothingImported = nothingImported;
  }

  get outcome(): string {
    return this.nothingImported ? NOTHING : UNKNOWN;
  }
}

const NOTHING = "Nothing was imported.";
const UNKNOWN =
  "All lines had been sent, so it is not known whether they were imported. Run the import again: what is there already stays as it is.";

/**
 * Imports lines of NDJSON in one transaction: all, all but the bad ones (`skipBad`), or none. Holds a few chunks at a time;
 * `lines` is read as fast as the service takes them, and closed at the end. Blank lines are counted and skipped.
 *
 * @param onProgress told how many lines the service has looked at, after every chunk
 * @throws ImportBroken when the connection breaks, the service refuses or `signal` aborts; whatever `lines` throws
 */
export async function importRecords(
  client: Pick<ImportClient, "importRecords">,
  { brandId, resource, skipBad, signal }: ImportTarget,
  lines: AsyncIterable<InputLine> | Iterable<InputLine>,
  onProgress: (progress: { readonly lines: number }) => void = () => undefined,
): Promise<ImportResult> {
  const stream = client.importRecords(callContext(IMPORT_MS));
  const sender = new Sender(stream);
  const breakOff = (): void => sender.breakOff();
  signal?.addEventListener("abort", breakOff);
  if (signal?.aborted === true) breakOff();
  let failedInput: { readonly error: unknown } | undefined;
  // Not waited for: it may hang on an input that never ends. It breaks the stream off when it fails, and receiving ends then.
  void sender.send({ brand_id: brandId, resource, skip_bad: skipBad }, lines).catch((error: unknown) => (failedInput = { error }));
  try {
    return await receive(stream, sender, onProgress);
  } catch (error) {
    throw failedInput === undefined ? broken(error, sender, signal) : failedInput.error;
  } finally {
    signal?.removeEventListener("abort", breakOff);
  }
}

function broken(error: unknown, { hasEnded }: Sender, signal: AbortSignal | undefined): unknown {
  if (!isServiceError(error)) return error;
  if (signal?.aborted === true)
    return new ImportBroken(new AppError("request_timeout", "The import was broken off.", { cause: error }), !hasEnded);
  // A refusal is an answer: the service has rolled everything back. Silence after the end is not.
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
      if (problem != null && problems.length < PROBLEMS_MAX) problems.push(sender.ownWords(problem));
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

/** Sends the lines in chunks, waiting whenever the service has enough to do. */
class Sender {
  readonly #stream: ImportStream;
  readonly #stopped = new AbortController();
  /** Why lines could not be sent, by line; as many as the service would report. */
  readonly #unreadable = new Map<number, string>();
  #lines = 0;
  #hasEnded = false;

  constructor(stream: ImportStream) {
    this.#stream = stream;
  }

  /** Whether the commit has been asked for. */
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
      // The input cannot be read any further: what has been sent of it must not be committed.
      this.breakOff();
      throw error;
    }
  }

  /** Nobody is listening any more. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Nothing is committed, unless the commit has been asked for already. */
  breakOff(): void {
    this.#stopped.abort();
    this.#stream.cancel();
  }

  /** The problem as it was seen here, if the line it is about was never sent. Without a field, if it has none. */
  ownWords(problem: ImportProblem): ImportProblem {
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
    // When the stream fails there is nothing to wait for; what happened is told by whoever receives from it.
    await once(this.#stream, "drain", { signal }).catch(() => this.#stopped.abort());
  }
}
