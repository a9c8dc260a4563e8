import { fstatSync, write, writeSync } from "node:fs";
import { LOG_FILE_BYTES_MAX, rotateLog } from "@brand-records/lifecycle";

const STDOUT = 1;
const BATCH_CHARS = 4 * 1024;
/** Bounds how far one write exceeds the size at which a file is rotated. */
const BATCH_CHARS_MAX = 64 * 1024;
const FLUSH_EVERY_MS = 200;
/** Lines that wait while standard output takes none. Beyond, lines are dropped and counted. */
const WAITING_CHARS_MAX = 8 * 1024 * 1024;
const RETRY_ROTATION_MS = 10_000;
const EXIT_WAIT_MS = 1_000;
const EXIT_POLL_MS = 10;

/**
 * Writes lines to standard output in batches, at most 200 ms late, so that neither a slow reader nor a full disk delays or ends the
 * process. Lines that cannot be written wait, up to 8 million characters, and are written whole when it is possible again.
 *
 * Replaces pino's own destination: with a full disk its `flushSync` repeats forever at the exit, its buffer has no bound by default, and
 * it has no moment at which a file may be rotated without a write under way.
 */
export class LogOutput {
  /** Reports what became of the log itself. Set after the log has been opened. */
  report: (fields: object, message: string) => void = () => {};
  /** The file that standard output appends to; undefined if it is not to be rotated. */
  readonly #file: string | undefined;
  /** Being written; incomplete lines are never in two batches. */
  #batch: Buffer = Buffer.alloc(0);
  readonly #waiting: string[] = [];
  #waitingChars = 0;
  #isWriting = false;
  #failure: NodeJS.ErrnoException | undefined;
  #dropped = 0;
  #rotateAfter = 0;

  constructor(file: string | undefined) {
    this.#file = file !== undefined && fstatSync(STDOUT).isFile() ? file : undefined;
    setInterval(() => this.#next(), FLUSH_EVERY_MS).unref();
    process.on("exit", () => this.#flushSync());
  }

  write(line: string): void {
    if (this.#waitingChars + line.length > WAITING_CHARS_MAX) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingChars += line.length;
    if (this.#waitingChars >= BATCH_CHARS && this.#failure === undefined) this.#next();
  }

  /** Writes the rest of the batch, or the next one. One write is under way at a time. */
  #next(): void {
    if (this.#isWriting) return;
    if (this.#batch.length === 0) {
      // A rotation that fails logs a line, which must not start a write before this one.
      this.#isWriting = true;
      this.#rotate();
      this.#isWriting = false;
      this.#batch = this.#takeWaiting(BATCH_CHARS_MAX);
    }
    if (this.#batch.length === 0) return;
    this.#isWriting = true;
    write(STDOUT, this.#batch, (error, written) => {
      this.#isWriting = false;
      if (error === null) this.#written(written);
      else this.#failed(error);
    });
  }

  #written(bytes: number): void {
    this.#batch = this.#batch.subarray(bytes);
    this.#failure = undefined;
    // Waits until there is room for the report.
    if (this.#dropped > 0 && this.#waitingChars < WAITING_CHARS_MAX / 2) this.#reportDropped();
    if (this.#batch.length > 0 || this.#waitingChars >= BATCH_CHARS) this.#next();
  }

  /** The next flush tries again, except when the reader has gone for good. */
  #failed(error: NodeJS.ErrnoException): void {
    if (error.code === "EAGAIN") return;
    this.#failure = error;
    if (error.code === "EPIPE") this.write = () => {};
  }

  #reportDropped(): void {
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.report({ dropped }, "log lines dropped: standard output took none");
  }

  /** Returns the oldest lines, whole, up to about `charsMax`. */
  #takeWaiting(charsMax: number): Buffer {
    let [lines, chars] = [0, 0];
    while (lines < this.#waiting.length && chars < charsMax) chars += this.#waiting[lines++]?.length ?? 0;
    this.#waitingChars -= chars;
    return Buffer.from(this.#waiting.splice(0, lines).join(""));
  }

  #rotate(): void {
    if (this.#file === undefined || performance.now() < this.#rotateAfter) return;
    try {
      if (fstatSync(STDOUT).size >= LOG_FILE_BYTES_MAX) rotateLog(STDOUT, this.#file);
    } catch (error) {
      this.#rotateAfter = performance.now() + RETRY_ROTATION_MS;
      this.report({ err: error }, "the log cannot be rotated");
    }
  }

  /** Gives up at the first error: a process with a full disk must be able to exit. */
  #flushSync(): void {
    // The thread of a write under way finishes it before the process ends.
    const rest = Buffer.concat([this.#isWriting ? Buffer.alloc(0) : this.#batch, this.#takeWaiting(Number.POSITIVE_INFINITY)]);
    const deadline = performance.now() + EXIT_WAIT_MS;
    for (let written = 0; written < rest.length;) {
      try {
        written += writeSync(STDOUT, rest, written);
      } catch (error) {
        // A pipe that is full at the moment.
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || performance.now() >= deadline) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXIT_POLL_MS);
      }
    }
  }
}
