import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readdirSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { processExists } from "./process-identity.ts";

/** A log of this size is rotated. With two older files beside it, a process keeps at most about three times as much. */
export const LOG_FILE_BYTES_MAX = 10 * 1024 * 1024;

/** Larger than this only if something else wrote it, such as an earlier release: the beginning is then discarded. */
const KEPT_BYTES_MAX = 2 * LOG_FILE_BYTES_MAX;
const COPY_BYTES = 1024 * 1024;
const LINE_END = 0x0a;

/**
 * If the open log has reached its size, moves its lines to `FILE.1`, those there to `FILE.2`, and empties it. Loses and cuts no line if
 * only the calling process writes to it, and is not writing now. Copies, because a rename would leave the standard output of a running
 * process in the renamed file: Node cannot redirect it. Copying 10 MiB takes 5 to 10 ms.
 *
 * A process that is killed meanwhile leaves lines twice, never fewer, or a draft, which the next rotation removes: the log has then still
 * the size at which it is rotated. Does nothing while the last line is incomplete.
 *
 * @param fd open for reading and appending
 * @throws if the copy cannot be written; the log is then as it was, without `FILE.2`
 */
export function rotateLog(fd: number, file: string): void {
  const { size } = fstatSync(fd);
  if (size < LOG_FILE_BYTES_MAX || !endsLine(fd, size)) return;
  mkdirSync(dirname(file), { recursive: true });
  removeOrphanedDrafts(file);
  // First, because it frees the space that the copy needs.
  rmSync(`${file}.2`, { force: true });
  // A draft of its own: a second process that has the log by mistake must not write into the same one.
  const draft = `${file}.${process.pid}.draft`;
  try {
    copy(fd, size <= KEPT_BYTES_MAX ? 0 : lineStartAfter(fd, size - LOG_FILE_BYTES_MAX), draft);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  renameIfThere(`${file}.1`, `${file}.2`);
  renameSync(draft, `${file}.1`);
  ftruncateSync(fd);
}

/** Removes the drafts of processes that were killed while they copied. */
function removeOrphanedDrafts(file: string): void {
  const [start, end] = [`${basename(file)}.`, ".draft"];
  for (const name of readdirSync(dirname(file))) {
    if (!name.startsWith(start) || !name.endsWith(end)) continue;
    const pid = name.slice(start.length, -end.length);
    if (/^\d+$/.test(pid) && !processExists(Number(pid))) rmSync(join(dirname(file), name), { force: true });
  }
}

function endsLine(fd: number, size: number): boolean {
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] === LINE_END;
}

/** Returns the position after the first end of a line from `position` on; `position` itself if the next MiB has none. */
function lineStartAfter(fd: number, position: number): number {
  const chunk = Buffer.alloc(COPY_BYTES);
  const read = readSync(fd, chunk, 0, chunk.length, position);
  return position + chunk.subarray(0, read).indexOf(LINE_END) + 1;
}

function copy(from: number, position: number, file: string): void {
  const to = openSync(file, "w", 0o600);
  try {
    const chunk = Buffer.alloc(COPY_BYTES);
    for (let at = position, read = 0; (read = readSync(from, chunk, 0, chunk.length, at)) > 0; at += read) {
      for (let written = 0; written < read;) written += writeSync(to, chunk, written, read - written);
    }
  } finally {
    closeSync(to);
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
