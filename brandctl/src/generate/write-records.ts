import { createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { DemoResource, GeneratedBrand } from "@brand-records/demo-data";
import { errorCode, errorReason, printable } from "@brand-records/command-line";
import { CommandFailure, Interrupted } from "../failure.ts";
import type { Terminal } from "../terminal.ts";

/** Lines are written in pieces of about this many characters: written one by one they take several times as long. */
const PIECE_LENGTH = 64 * 1024;

export interface WrittenFile {
  readonly resource: DemoResource;
  readonly path: string;
  readonly records: number;
  readonly bytes: number;
}

/**
 * Writes DIRECTORY/<resource>.ndjson, replacing existing files. A file gets its name only once it is complete, so a partial
 * file is never mistaken for a whole one.
 *
 * @throws Interrupted after Ctrl-C, CommandFailure if a file cannot be written
 */
export async function writeFiles(
  brand: GeneratedBrand,
  resources: readonly DemoResource[],
  directory: string,
  signal: AbortSignal,
): Promise<WrittenFile[]> {
  await mkdir(directory, { recursive: true }).catch((error: unknown) => {
    throw unwritable(directory, error);
  });
  const files: WrittenFile[] = [];
  for (const resource of resources) {
    const path = join(directory, `${resource}.ndjson`);
    const unfinished = `${path}.unfinished`;
    const written = { records: 0, bytes: 0 };
    try {
      await pipeline(Readable.from(counting(pieces(brand[resource]()), written)), createWriteStream(unfinished), { signal });
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw signal.aborted ? new Interrupted(`Interrupted. ${printable(path)} was not written.`) : unwritable(path, error);
    }
    files.push({ resource, path, ...written });
  }
  return files;
}

function unwritable(path: string, error: unknown): CommandFailure {
  return new CommandFailure("unwritable_file", `${printable(path)} cannot be written: ${errorReason(error)}.`, { cause: error });
}

/** Writes to standard output. A reader that stops early (`| head`) is not a failure. */
export async function writeToScreen(records: Iterable<object>, { stdout, interrupted }: Terminal): Promise<void> {
  try {
    await pipeline(Readable.from(textsOf(pieces(records))), stdout, { end: false, signal: interrupted });
  } catch (error) {
    if (interrupted.aborted) throw new Interrupted("Interrupted. Not all records were written.");
    if (errorCode(error) !== "EPIPE") throw error;
  }
}

interface Piece {
  readonly text: string;
  readonly records: number;
}

function* pieces(records: Iterable<object>): Generator<Piece> {
  let text = "";
  let count = 0;
  for (const record of records) {
    text += `${JSON.stringify(record)}\n`;
    count += 1;
    if (text.length < PIECE_LENGTH) continue;
    yield { text, records: count };
    text = "";
    count = 0;
  }
  if (count > 0) yield { text, records: count };
}

function* textsOf(all: Iterable<Piece>): Generator<string> {
  for (const { text } of all) yield text;
}

function* counting(all: Iterable<Piece>, written: { records: number; bytes: number }): Generator<Buffer> {
  for (const { text, records } of all) {
    const bytes = Buffer.from(text);
    written.records += records;
    written.bytes += bytes.length;
    yield bytes;
  }
}
