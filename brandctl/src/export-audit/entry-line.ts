import type { AuditEntry } from "@brand-records/proto/accounts/v1";
import { parseInstant } from "@brand-records/resources";

/** Every field of an entry, in the order of the proto: a new one does not compile until it is here. */
const FIELDS: Readonly<Record<keyof AuditEntry, true>> = {
  id: true,
  brand_id: true,
  actor: true,
  action: true,
  subject_id: true,
  fields: true,
  request_id: true,
  address: true,
  created_at: true,
  outcome: true,
  error_kind: true,
  finished_at: true,
  via: true,
  browser: true,
  role: true,
  tries: true,
};
const FIELD_NAMES = Object.keys(FIELDS) as (keyof AuditEntry)[];

/** Where an entry stands in an export: lines are in ascending order of both. */
export interface Position {
  /** When the entry was last changed. */
  readonly changedAt: string;
  readonly id: string;
}

/** All lines of an export begin so, which tells a torn one from the text of another program. */
export const LINE_START = '{"id":"aud_';

/** Returns an entry as a line of an export, with its end. Absent fields are null. */
export function lineOf(entry: AuditEntry): string {
  return `${JSON.stringify(Object.fromEntries(FIELD_NAMES.map((name) => [name, entry[name] ?? null])))}\n`;
}

/** Fields that name people or where they were. */
const OF_PEOPLE: ReadonlySet<keyof AuditEntry> = new Set(["actor", "via", "address", "browser"]);

/** Returns an entry as a line that has ids alone, with its end: for programs that write to people whose addresses they know themselves. */
export function idsLineOf(entry: AuditEntry): string {
  const names = FIELD_NAMES.filter((name) => !OF_PEOPLE.has(name));
  return `${JSON.stringify(Object.fromEntries(names.map((name) => [name, isOfPerson(entry, name) ? null : (entry[name] ?? null)])))}\n`;
}

/** Members are named by their e-mail address. */
const isOfPerson = (entry: AuditEntry, name: keyof AuditEntry): boolean =>
  name === "subject_id" && entry.subject_id?.includes("@") === true;

export const positionOf = ({ finished_at, created_at, id }: AuditEntry): Position => ({ changedAt: finished_at ?? created_at, id });

export const isAfter = (a: Position, b: Position): boolean => a.changedAt > b.changedAt || (a.changedAt === b.changedAt && a.id > b.id);

/** Returns the position of a line, without its end; undefined for what is no line of an export. Other releases may have other fields. */
export function positionOfLine(line: string): Position | undefined {
  if (!line.startsWith(LINE_START)) return undefined;
  const entry = parsed(line);
  if (entry === undefined) return undefined;
  const { id, brand_id, action, created_at, finished_at } = entry;
  if (typeof id !== "string" || typeof brand_id !== "string" || typeof action !== "string") return undefined;
  const changedAt = finished_at ?? created_at;
  return isTime(created_at) && isTime(changedAt) ? { changedAt, id } : undefined;
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Whether this is a time as the services write it: only these are in order as texts. */
const isTime = (value: unknown): value is string => typeof value === "string" && value.length === 24 && parseInstant(value) !== undefined;
