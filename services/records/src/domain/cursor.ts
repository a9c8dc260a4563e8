import { AppError } from "@brand-records/errors";
import {
  CURSOR_FORM,
  EARLIEST_INSTANT,
  FILTER_NAMES,
  formatInstant,
  LATEST_INSTANT,
  parsedJson,
  parseInstant,
  type FilterName,
  type Filters,
  type ResourceName,
} from "@brand-records/resources";
import { idPattern } from "@brand-records/ids";

/** The position of a record in a list. `created_at` as `2026-11-21T08:30:00.000Z`. */
export interface Position {
  readonly created_at: string;
  readonly id: string;
}

/** The list that a cursor belongs to, as the first page of the walk selected it. */
export interface CursorScope {
  readonly resource: ResourceName;
  /** Normalized. */
  readonly since: string | undefined;
  /** Normalized. */
  readonly filters: Filters;
}

/**
 * `[1, resource, since, created_at, id]` without filters, and
 * `[2, resource, since, filters, created_at, id]` with filters.
 */
const VERSION = 1;
const VERSION_WITH_FILTERS = 2;

/**
 * Returns an opaque token: base64url of a JSON array of version, resource, the first page's `since` and filters, and the position.
 * It holds no secret and grants nothing: it selects among the records of the key that presents it.
 */
export function encodeCursor({ resource, since, filters }: CursorScope, { created_at, id }: Position): string {
  const given = presentFilters(filters);
  if (given.length === 0) return base64url([VERSION, resource, since ?? null, created_at, id]);
  return base64url([VERSION_WITH_FILTERS, resource, since ?? null, Object.fromEntries(given), created_at, id]);
}

/**
 * @param scope of this request, normalized as for `encodeCursor`
 * @throws AppError `invalid_cursor` unless `encodeCursor` returned this cursor for this scope
 */
export function decodeCursor(cursor: string, { resource, since, filters }: CursorScope): Position {
  const fields = readFields(cursor);
  if (fields === undefined) {
    throw invalidCursor(
      "The cursor was not issued by this service, or was cut or changed. Pass next_cursor on unchanged, or start again without a cursor.",
    );
  }
  if (fields.resource !== resource) {
    throw invalidCursor(`The cursor belongs to another resource (${fields.resource}). Start again without a cursor.`);
  }
  if (fields.since !== (since ?? null)) {
    throw invalidCursor("The cursor belongs to another since. Repeat the since of the first page, or start again without a cursor.");
  }
  const differing = FILTER_NAMES.filter((name) => fields.filters[name] !== filters[name]);
  if (differing.length > 0) {
    throw invalidCursor(
      `The cursor belongs to other filters (${differing.join(", ")}). Repeat the filters of the first page, or start again without a cursor.`,
    );
  }
  return fields.position;
}

const EARLIEST = formatInstant(EARLIEST_INSTANT);
const LATEST = formatInstant(LATEST_INSTANT);
const ANY_ID = idPattern("[a-z]{1,8}");

interface CursorFields {
  readonly resource: string;
  readonly since: string | null;
  readonly filters: Filters;
  readonly position: Position;
}

function readFields(cursor: string): CursorFields | undefined {
  if (cursor.length > CURSOR_FORM.maxLength) return undefined;
  const fields = parsedJson(Buffer.from(cursor, "base64url").toString());
  // Node reads base64 leniently, and JSON allows white space: accept only the spelling that encodeCursor writes.
  if (base64url(fields) !== cursor || !Array.isArray(fields)) return undefined;
  const filters = fields[0] === VERSION_WITH_FILTERS ? filtersFrom(fields.splice(3, 1)[0]) : {};
  if (filters === undefined || fields.length !== 5 || ![VERSION, VERSION_WITH_FILTERS].includes(fields[0] as number)) return undefined;
  const [, resource, since, created_at, id] = fields as unknown[];
  if (typeof resource !== "string" || !/^[a-z]{1,20}$/.test(resource)) return undefined;
  if (since !== null && !isInstant(since)) return undefined;
  if (!isStored(created_at) || typeof id !== "string" || !ANY_ID.test(id)) return undefined;
  return { resource, since, filters, position: { created_at, id } };
}

/** Returns filters in the form that encodeCursor writes: at least one, in order; their values are compared with the request's. */
function filtersFrom(value: unknown): Filters | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const given = presentFilters(value);
  const isComplete = given.length > 0 && JSON.stringify(Object.fromEntries(given)) === JSON.stringify(value);
  return isComplete && given.every(([, text]) => typeof text === "string") ? value : undefined;
}

const presentFilters = (filters: Filters): [FilterName, string][] =>
  FILTER_NAMES.flatMap((name) => (filters[name] === undefined ? [] : [[name, filters[name]] as [FilterName, string]]));

/** Whether `value` is a time as `formatInstant` writes it. */
function isInstant(value: unknown): value is string {
  if (typeof value !== "string") return false;
  const instant = parseInstant(value);
  return instant !== undefined && formatInstant(instant) === value;
}

/** Whether `value` is a time that a record can have. Postgres refuses others. */
function isStored(value: unknown): value is string {
  return isInstant(value) && value >= EARLIEST && value <= LATEST;
}

function base64url(fields: unknown): string {
  return Buffer.from(JSON.stringify(fields) ?? "").toString("base64url");
}

function invalidCursor(message: string): AppError {
  return new AppError("invalid_cursor", message, { field: "cursor" });
}
