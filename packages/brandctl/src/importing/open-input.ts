import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { CommandFailure } from "../failure.ts";
import { printable } from "../output/printable.ts";
import type { Session } from "../session.ts";
import { recogniseFormat } from "./recognise-format.ts";

const READ_BYTES = 256 * 1024;

/** Bytes to import, and how far they have been read. */
export interface Input {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Undefined when nobody knows how many will come. */
  readonly bytes: number | undefined;
  bytesRead(): number;
  close(): void;
}

/** @throws CommandFailure when the file cannot be read, also later, while it is; or when it plainly is not NDJSON */
export async function openInput(file: string, session: Session): Promise<Input> {
  const { terminal } = session;
  const fromStdin = file === "-";
  const bytes = fromStdin ? undefined : await sizeOf(file);
  if (fromStdin && terminal.stdin.isTTY === true)
    session.note(({ dim }) => dim("Reading records from the terminal, one JSON object a line. Ctrl-D ends."));
  const stream = fromStdin ? terminal.stdin : createReadStream(file, { highWaterMark: READ_BYTES });
  let read = 0;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of stream as AsyncIterable<Uint8Array | string>) {
        const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
        if (read === 0) refuseOtherFormats(bytes);
        read += bytes.length;
        yield bytes;
      }
    } catch (error) {
      throw error instanceof CommandFailure ? error : unreadable(file, error);
    }
  }
  return { chunks: chunks(), bytes, bytesRead: () => read, close: () => void stream.destroy() };
}

/** Undefined for pipes and devices: they have a size that says nothing. */
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
  const found = recogniseFormat(beginning);
  if (found === undefined) return;
  throw new CommandFailure("not_ndjson", `The input is ${found.format}, not NDJSON (one JSON object a line). Nothing was imported.`, {
    hint: found.remedy,
  });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EISDIR: "it is a directory",
};

function unreadable(file: string, error: unknown): CommandFailure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const reason = REASONS[code] ?? (error instanceof Error ? error.message : String(error));
  return new CommandFailure("unreadable_file", `${printable(file)} cannot be read: ${reason}. Nothing was imported.`, { cause: error });
}
