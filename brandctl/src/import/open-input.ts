import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { errorReason, printable } from "@brand-records/command-line";
import { CommandFailure, Interrupted } from "../failure.ts";
import type { Session } from "../session.ts";

const READ_BYTES = 256 * 1024;

/** The input of an import, and how much of it has been read. */
export interface Input {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The size of the input; undefined if it is not known. */
  readonly bytes: number | undefined;
  bytesRead(): number;
  close(): void;
}

/**
 * Opens a file, or standard input for `-`. Resolves after it has read the first bytes and they are of no other known format.
 *
 * @throws CommandFailure if the input cannot be read or is plainly not NDJSON; Interrupted on Ctrl-C. `chunks` throws a
 *   CommandFailure if reading fails later.
 */
export async function openInput(file: string, session: Session): Promise<Input> {
  const { stdin, interrupted } = session.terminal;
  const fromStdin = file === "-";
  const bytes = fromStdin ? undefined : await sizeOf(file);
  if (fromStdin && stdin.isTTY === true) {
    session.note(({ dim }) => dim("Reading records from the terminal, one JSON object a line. Ctrl-D ends the input."));
  }
  const stream = fromStdin ? stdin : createReadStream(file, { highWaterMark: READ_BYTES });
  const incoming = (stream as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  let read = 0;
  const next = async (): Promise<Uint8Array | undefined> => {
    try {
      const { done, value } = await incoming.next();
      if (done === true) return undefined;
      read += value.length;
      return value;
    } catch (error) {
      throw interrupted.aborted ? new Interrupted("Interrupted. Nothing was imported.") : unreadable(file, error);
    }
  };
  const stop = (): void => void stream.destroy();
  interrupted.addEventListener("abort", stop);
  try {
    const first = await next();
    refuseOtherFormats(first ?? new Uint8Array());
    return { chunks: chunksFrom(first, next), bytes, bytesRead: () => read, close: stop };
  } catch (error) {
    stop();
    throw error;
  } finally {
    // From here on, Ctrl-C cancels the import, whose error states the outcome.
    interrupted.removeEventListener("abort", stop);
  }
}

async function* chunksFrom(first: Uint8Array | undefined, next: () => Promise<Uint8Array | undefined>): AsyncGenerator<Uint8Array> {
  for (let chunk = first; chunk !== undefined; chunk = await next()) yield chunk;
}

/** Undefined for pipes and devices, whose size means nothing. */
async function sizeOf(file: string): Promise<number | undefined> {
  try {
    const found = await stat(file);
    if (found.isDirectory()) throw Object.assign(new Error("it is a directory"), { code: "EISDIR" });
    return found.isFile() ? found.size : undefined;
  } catch (error) {
    throw unreadable(file, error);
  }
}

function refuseOtherFormats(beginning: Uint8Array): void {
  const found = detectFormat(beginning);
  if (found === undefined) return;
  throw new CommandFailure("not_ndjson", `The input is ${found.format}, not NDJSON (one JSON object a line). Nothing was imported.`, {
    hint: found.remedy,
  });
}

function unreadable(file: string, error: unknown): CommandFailure {
  const message = `${printable(file)} cannot be read: ${errorReason(error)}. Nothing was imported.`;
  return new CommandFailure("unreadable_file", message, { cause: error });
}

const MAGIC: readonly (readonly [bytes: readonly number[], name: string, remedy: string])[] = [
  [[0x1f, 0x8b], "gzip", "gunzip -c FILE | brandctl records import … -"],
  [[0x28, 0xb5, 0x2f, 0xfd], "Zstandard", "zstd -dc FILE | brandctl records import … -"],
  [[0x50, 0x4b, 0x03, 0x04], "ZIP", "unzip -p FILE | brandctl records import … -"],
  [[0xff, 0xfe], "UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | brandctl records import … -"],
  [[0xfe, 0xff], "UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | brandctl records import … -"],
];

/** Names the format of an input that is plainly not NDJSON, to report it once instead of as a problem of every line. */
export function detectFormat(beginning: Uint8Array): { readonly format: string; readonly remedy: string } | undefined {
  for (const [bytes, format, remedy] of MAGIC) {
    if (bytes.every((byte, at) => beginning[at] === byte)) return { format, remedy };
  }
  if (/^(\xef\xbb\xbf)?\s*\[/.test(Buffer.from(beginning.subarray(0, 1_024)).toString("latin1"))) {
    return { format: "a JSON array", remedy: "jq -c '.[]' FILE | brandctl records import … -" };
  }
  return undefined;
}
