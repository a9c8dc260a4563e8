import type { FileHandle } from "node:fs/promises";
import { parsedJson } from "@brand-records/command-line";
import type { AuditEntry } from "@brand-records/proto/accounts/v1";
import { parseInstant } from "@brand-records/resources";

/** Where an entry stands in an export: lines are in ascending order of both. */
export interface Position {
  /** When the entry was last changed. */
  readonly changedAt: string;
  readonly id: string;
}

/** All lines of an export begin so, which tells a torn one from the text of another program. */
export const LINE_START = '{"id":"aud_';

/** Returns an entry as a line of an export, with its end. A decoded entry has every field, in the proto's order; absent ones are null. */
export const lineOf = (entry: AuditEntry): string => `${JSON.stringify(entry)}\n`;

/**
 * Returns an entry as a line that has ids alone, with its end: for programs that write to people whose addresses they know themselves.
 * Fields that name people, or where they were, are left out; a member, who is named by an e-mail address, is null.
 */
export function idsLineOf(entry: AuditEntry): string {
  const subject_id = entry.subject_id?.includes("@") === true ? null : entry.subject_id;
  const ofPeople = { actor: undefined, via: undefined, address: undefined, browser: undefined };
  return lineOf({ ...entry, ...ofPeople, subject_id });
}

export const positionOf = ({ finished_at, created_at, id }: AuditEntry): Position => ({ changedAt: finished_at ?? created_at, id });

export const isAfter = (a: Position, b: Position): boolean => a.changedAt > b.changedAt || (a.changedAt === b.changedAt && a.id > b.id);

/** Returns the position of a line, without its end; undefined for what is no line of an export. Other releases may have other fields. */
export function positionOfLine(line: string): Position | undefined {
  if (!line.startsWith(LINE_START)) return undefined;
  const entry = parsedJson(line) as Readonly<Record<string, unknown>> | undefined;
  if (entry === undefined) return undefined;
  const { id, brand_id, action, created_at, finished_at } = entry;
  if (typeof id !== "string" || typeof brand_id !== "string" || typeof action !== "string") return undefined;
  const changedAt = finished_at ?? created_at;
  return isTime(created_at) && isTime(changedAt) ? { changedAt, id } : undefined;
}

/** Whether this is a time as the services write it: only these are in order as texts. */
const isTime = (value: unknown): value is string => typeof value === "string" && value.length === 24 && parseInstant(value) !== undefined;

const READ_BYTES = 256 * 1024;
/** The longest entry has 4 KiB. */
const LINE_BYTES_MAX = 64 * 1024;
const LINE_END = 10;

/** What an export holds. */
interface Scanned {
  /** Up to the end of the last complete line. */
  readonly bytes: number;
  /** Position of the last complete line; undefined without one. */
  readonly last: Position | undefined;
}

/** The file is no export. `message` says where and why. */
export class NotAnExport extends Error {
  override readonly name = "NotAnExport";
}

/**
 * Reads an export to its end and checks each line and their order: a later export must not go on after what is damaged. Keeps one line in
 * memory at a time.
 *
 * @throws NotAnExport; an AbortError with `signal`
 */
export async function scanExport(file: FileHandle, signal: AbortSignal): Promise<Scanned> {
  const chunk = Buffer.allocUnsafe(READ_BYTES);
  let rest: Buffer = Buffer.alloc(0);
  let bytes = 0;
  /** Read behind the rest, and not kept. */
  let zeros = 0;
  let line = 0;
  let last: Position | undefined;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, READ_BYTES, bytes + rest.length + zeros);
    const read = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    if (zeros > 0 && !isZeros(chunk.subarray(0, bytesRead))) throw new NotAnExport(`line ${line + 1} holds zeros`);
    let start = 0;
    for (let end = read.indexOf(LINE_END); end !== -1; end = read.indexOf(LINE_END, start)) {
      line += 1;
      last = next(last, read.toString("utf8", start, end), line);
      start = end + 1;
    }
    rest = withoutZeros(read.subarray(start));
    bytes += start;
    zeros += read.length - start - rest.length;
    if (rest.length > LINE_BYTES_MAX) throw new NotAnExport(`line ${line + 1} is longer than an entry`);
    if (bytesRead === 0) break;
  }
  if (!isTorn(rest.toString("latin1"))) throw new NotAnExport("it ends with what is no beginning of an entry");
  return { bytes, last };
}

function next(last: Position | undefined, text: string, line: number): Position {
  const position = positionOfLine(text);
  if (position === undefined) throw new NotAnExport(`line ${line} is no entry`);
  if (last !== undefined && !isAfter(position, last)) throw new NotAnExport(`line ${line} is not after the line before it`);
  return position;
}

/** After a loss of power, blocks that were not written yet hold zeros: as many as one write had, or more. */
const withoutZeros = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1);
const isZeros = (bytes: Buffer): boolean => withoutZeros(bytes).length === 0;

/** Whether this may be what a kill left of a line. */
const isTorn = (text: string): boolean => LINE_START.startsWith(text) || text.startsWith(LINE_START);
