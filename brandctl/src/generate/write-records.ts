import { createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { DemoResource, GeneratedBrand } from "@brand-records/demo-data";
import { errorCode, printable, unwritable } from "@brand-records/command-line";
import { Interrupted } from "../failure.ts";
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
    const file = createWriteStream(unfinished);
    let records = 0;
    try {
      await pipeline(Readable.from(pieces(brand[resource](), () => (records += 1))), file, { signal });
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw signal.aborted ? new Interrupted(`Interrupted. ${printable(path)} was not written.`) : unwritable(path, error);
    }
    files.push({ resource, path, records, bytes: file.bytesWritten });
  }
  return files;
}

/** Writes to standard output. A reader that stops early (`| head`) is not a failure. */
export async function writeToScreen(records: Iterable<object>, { stdout, interrupted }: Terminal): Promise<void> {
  try {
    await pipeline(Readable.from(pieces(records)), stdout, { end: false, signal: interrupted });
  } catch (error) {
    if (interrupted.aborted) throw new Interrupted("Interrupted. Not all records were written.");
    if (errorCode(error) !== "EPIPE") throw error;
  }
}

/** @param onRecord called with each record */
function* pieces(records: Iterable<object>, onRecord: () => void = () => undefined): Generator<string> {
  let text = "";
  for (const record of records) {
    text += `${JSON.stringify(record)}\n`;
    onRecord();
    if (text.length < PIECE_LENGTH) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}
