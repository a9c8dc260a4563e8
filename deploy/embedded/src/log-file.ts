import { closeSync, fstatSync, mkdirSync, openSync, readSync } from "node:fs";
import { dirname } from "node:path";
import { rotateLog } from "@brand-records/lifecycle";

const READ_BYTES_MAX = 64 * 1024;
const ROTATE_EVERY_MS = 1_000;

/**
 * The file that a process writes its output to, itself: through a pipe of the launcher, its last lines would be lost with a killed launcher,
 * and it would wait for a busy one. A process of ours rotates the file (`LOG_FILE`), because only the writer knows when no line is being
 * written.
 */
export class LogFile {
  readonly #path: string;
  #descriptor: number | undefined;
  #rotation: NodeJS.Timeout | undefined;
  #wasOpened = false;
  #sizeWhenOpened = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Opens the file for a process, and rotates it before: a process that ends before it opens its log never does. A file that cannot be
   * opened or rotated, for example because the disk is full, keeps no process from running: its output is then lost, or grows.
   */
  open(onError: (error: unknown) => void): number | "ignore" {
    try {
      mkdirSync(dirname(this.#path), { recursive: true });
      // Readable, so that it can be rotated.
      this.#descriptor = openSync(this.#path, "a+");
      rotateLog(this.#descriptor, this.#path);
    } catch (error) {
      onError(error);
    }
    this.#wasOpened = this.#descriptor !== undefined;
    if (this.#descriptor === undefined) return "ignore";
    // The file also has the output of earlier runs.
    this.#sizeWhenOpened = fstatSync(this.#descriptor).size;
    return this.#descriptor;
  }

  /** Rotates the file until it is closed, for a process that does not. Lines that it writes in these milliseconds are lost. */
  keepRotated(onError: (error: unknown) => void): void {
    const descriptor = this.#descriptor;
    if (descriptor === undefined) return;
    this.#rotation = setInterval(() => {
      try {
        rotateLog(descriptor, this.#path);
      } catch (error) {
        clearInterval(this.#rotation);
        onError(error);
      }
    }, ROTATE_EVERY_MS);
  }

  /** Once the process has its own descriptor. */
  close(): void {
    clearInterval(this.#rotation);
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Returns the end of what has been written since `open`. */
  outputSinceOpened(): string {
    if (!this.#wasOpened) return "";
    const descriptor = openSync(this.#path, "r");
    try {
      const { size } = fstatSync(descriptor);
      // Smaller if it has been rotated since.
      const from = Math.max(size < this.#sizeWhenOpened ? 0 : this.#sizeWhenOpened, size - READ_BYTES_MAX);
      const output = Buffer.alloc(size - from);
      return output.subarray(0, readSync(descriptor, output, 0, output.length, from)).toString();
    } finally {
      closeSync(descriptor);
    }
  }
}
