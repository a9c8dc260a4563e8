import { AppError } from "@brand-records/errors";
import { formatInstant, parseInstant, type ResourceName } from "@brand-records/resources";
import { idPattern } from "@brand-records/typeid";

/** The position of a record in a list. `created_at` as `2026-11-21T08:30:00.000Z`. */
export interface Position {
  readonly created_at: string;
  readonly id: string;
}

const VERSION = 1;
const CURSOR_CHARACTERS_MAX = 400;

/**
 * Returns an opaque token: base64url of a JSON array of version, resource, the first page's `since` and the position.
 * It holds no secret and grants nothing: it selects among the records of the key that presents it.
 */
export function encodeCursor(resource: ResourceName, since: string | undefined, last: Position): string {
  return base64url([VERSION, resource, since ?? null, last.created_at, last.id]);
}

/**
 * @param since of this request, normalized as for `encodeCursor`
 * @throws AppError `invalid_cursor` unless `encodeCursor` returned this cursor for this resource and this `since`
 */
export function decodeCursor(cursor: string, resource: ResourceName, since: string | undefined): Position {
  const fields = readFields(cursor);
  if (fields === undefined) {
    throw invalidCursor(
      "The cursor was not issued by this service, or was cut or changed. Pass next_cursor on unchanged, or start again without a cursor.",
    );
  }
  const [cursorResource, cursorSince, created_at, id] = fields;
  if (cursorResource !== resource) {
    throw invalidCursor(`The cursor belongs to another resource (${cursorResource}). Start again without a cursor.`);
  }
  if (cursorSince !== (since ?? null)) {
    throw invalidCursor("The cursor belongs to another since. Repeat the since of the first page, or start again without a cursor.");
  }
  return { created_at, id };
}

const ANY_ID = idPattern("[a-z]{1,8}");

function readFields(cursor: string): [string, string | null, string, string] | undefined {
  if (cursor.length > CURSOR_CHARACTERS_MAX) return undefined;
  const fields = parseJson(Buffer.from(cursor, "base64url").toString());
  // Node reads base64 leniently, and JSON allows white space: accept only the spelling that encodeCursor writes.
  if (base64url(fields) !== cursor) return undefined;
  if (!Array.isArray(fields) || fields.length !== 5 || fields[0] !== VERSION) return undefined;
  const [, resource, since, created_at, id] = fields as unknown[];
  if (typeof resource !== "string" || !/^[a-z]{1,20}$/.test(resource)) return undefined;
  if (since !== null && !isInstant(since)) return undefined;
  if (!isInstant(created_at) || typeof id !== "string" || !ANY_ID.test(id)) return undefined;
  return [resource, since, created_at, id];
}

/** Whether `value` is a time as `formatInstant` writes it. */
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
