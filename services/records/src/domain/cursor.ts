import { AppError } from "@brand-records/errors";
import { formatInstant, parseInstant, type ResourceName } from "@brand-records/resources";

/** Between the last record of a page and the first of the next. Times as `2026-11-21T08:30:00.000Z`. */
export interface Position {
  readonly created_at: string;
  readonly id: string;
}

const VERSION = 1;
const CURSOR_CHARACTERS_MAX = 400;

/**
 * An opaque token: base64url of a JSON array of version, resource, the `since` the walk began with, and the position.
 * It selects within the brand of the key that presents it; it is no secret and widens nothing.
 */
export function encodeCursor(resource: ResourceName, since: string | undefined, last: Position): string {
  return base64url([VERSION, resource, since ?? null, last.created_at, last.id]);
}

/**
 * @param since of the same request, as `encodeCursor` got it
 * @throws AppError `invalid_cursor` unless `encodeCursor` made it for this resource and this `since`
 */
export function decodeCursor(cursor: string, resource: ResourceName, since: string | undefined): Position {
  const fields = readFields(cursor);
  if (fields === undefined) {
    throw invalidCursor(
      "The cursor is not one this service made, or it was cut or changed. Pass next_cursor on unchanged, or start again without a cursor.",
    );
  }
  const [madeFor, madeUnder, created_at, id] = fields;
  if (madeFor !== resource) {
    throw invalidCursor(`The cursor belongs to another resource (${madeFor}). Start again without a cursor.`);
  }
  if (madeUnder !== (since ?? null)) {
    throw invalidCursor("The cursor was made under another since. Repeat the since of the first page, or start again without a cursor.");
  }
  return { created_at, id };
}

function readFields(cursor: string): [string, string | null, string, string] | undefined {
  if (cursor.length > CURSOR_CHARACTERS_MAX) return undefined;
  const fields = parseJson(Buffer.from(cursor, "base64url").toString());
  // Node reads base64 leniently, and JSON allows white space: only what we would write ourselves is a cursor.
  if (base64url(fields) !== cursor) return undefined;
  if (!Array.isArray(fields) || fields.length !== 5 || fields[0] !== VERSION) return undefined;
  const [, resource, since, created_at, id] = fields as unknown[];
  if (typeof resource !== "string" || !/^[a-z]{1,20}$/.test(resource)) return undefined;
  if (since !== null && !isInstant(since)) return undefined;
  if (!isInstant(created_at) || typeof id !== "string" || !/^[a-z]{1,8}_[0-9a-z]{1,40}$/.test(id)) return undefined;
  return [resource, since, created_at, id];
}

function isInstant(value: unknown): value is string {
  if (typeof value !== "string") return false;
  const instant = parseInstant(value);
  return instant !== undefined && formatInstant(instant) === value;
}

function base64url(fields: unknown): string {
  return Buffer.from(JSON.stringify(fields) ?? "").toString("base64url");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function invalidCursor(message: string): AppError {
  return new AppError("invalid_cursor", message, { field: "cursor" });
}
