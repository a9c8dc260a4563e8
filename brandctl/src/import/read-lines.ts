import { isUtf8 } from "node:buffer";

/** A line of the input without its line ending, or why it cannot be read. */
export type InputLine = string | UnreadableLine;

export interface UnreadableLine {
  readonly unreadable: string;
}

/** A longer line is not a record, and would be held in memory. */
export const LINE_BYTES_MAX = 1024 * 1024;

export const TOO_LONG = "is longer than 1 MiB";
const NOT_UTF8 = "is not valid UTF-8";

const LF = 0x0a;

/**
 * Splits bytes into lines that end in LF or CRLF; the last needs no end. A byte order mark is dropped. Holds at most one
 * line and one chunk, whatever the length of the input or of a line. Yields every line, unreadable ones as such.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<InputLine> {
  const splitter = new LineSplitter();
  for await (const chunk of chunks) yield* splitter.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  yield* splitter.end();
}

class LineSplitter {
  /** The beginning of a line that continues in the next chunk. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #isFirst = true;

  *push(chunk: Buffer): Generator<InputLine> {
    const end = chunk.lastIndexOf(LF);
    if (end !== -1) yield* this.#complete(chunk.subarray(0, end));
    this.#begin(chunk.subarray(end + 1));
  }

  *end(): Generator<InputLine> {
    if (this.#begunBytes > 0) yield* this.#complete(Buffer.alloc(0));
  }

  #begin(bytes: Buffer): void {
    this.#begunBytes += bytes.length;
    // Only the length of a line that is too long matters.
    if (this.#begunBytes > LINE_BYTES_MAX) this.#begun = [];
    else if (bytes.length > 0) this.#begun.push(bytes);
  }

  /** @param bytes the rest of the line begun, and perhaps more lines, without the last line's end */
  *#complete(bytes: Buffer): Generator<InputLine> {
    const begun = this.#begun;
    const tooLong = this.#begunBytes > LINE_BYTES_MAX;
    this.#begun = [];
    this.#begunBytes = 0;
    if (!tooLong) {
      yield* this.#checked(decode(begun.length > 0 ? Buffer.concat([...begun, bytes]) : bytes));
      return;
    }
    yield* this.#checked([{ unreadable: TOO_LONG }]);
    const next = bytes.indexOf(LF);
    if (next !== -1) yield* this.#checked(decode(bytes.subarray(next + 1)));
  }

  *#checked(lines: Iterable<InputLine>): Generator<InputLine> {
    for (const line of lines) {
      if (typeof line !== "string") yield line;
      else if (isTooLong(line)) yield { unreadable: TOO_LONG };
      else yield this.#isFirst && line.startsWith("\ufeff") ? line.slice(1) : line;
      this.#isFirst = false;
    }
  }
}

export function isTooLong(line: string): boolean {
  // A UTF-16 unit takes at most three bytes, so most lines need no measuring.
  return line.length > LINE_BYTES_MAX / 3 && Buffer.byteLength(line) > LINE_BYTES_MAX;
}

/** Decodes all lines in one step if everything is well formed, else one by one, to find the one that is not. */
function decode(bytes: Buffer): InputLine[] {
  if (isUtf8(bytes)) return bytes.toString("utf8").split("\n").map(withoutCr);
  const lines: InputLine[] = [];
  for (let from = 0; from <= bytes.length;) {
    const found = bytes.indexOf(LF, from);
    const end = found === -1 ? bytes.length : found;
    const line = bytes.subarray(from, end);
    lines.push(isUtf8(line) ? withoutCr(line.toString("utf8")) : { unreadable: NOT_UTF8 });
    from = end + 1;
  }
  return lines;
}

function withoutCr(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
