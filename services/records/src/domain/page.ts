import { AppError } from "@brand-records/errors";
import { idPattern, idRule } from "@brand-records/ids";
import {
  EARLIEST_INSTANT,
  fieldsByKind,
  FILTER_NAMES,
  type FilterName,
  filterProblem,
  type Filters,
  formatInstant,
  instantProblem,
  LATEST_INSTANT,
  PAGE_LIMIT_MAX,
  parseInstant,
  parseInstantUp,
  RESOURCE_NAMES,
  type ResourceName,
  RESOURCES,
} from "@brand-records/resources";
import { decodeCursor, encodeCursor, type Position } from "./cursor.ts";

/** A request for one page of one brand's records of one resource. */
export interface PageRequest {
  readonly brand_id: string;
  readonly limit: number;
  readonly cursor?: string | null | undefined;
  readonly since?: string | null | undefined;
  readonly filters?: GivenFilters | null | undefined;
  readonly fields?: { readonly names: readonly string[] } | null | undefined;
}

/** The page to read, from a valid `PageRequest`. */
export interface Page {
  readonly brandId: string;
  readonly limit: number;
  /** The last record of the page before; undefined for the first page. */
  readonly after: Position | undefined;
  /** Keeps records created strictly later. UTC with milliseconds. */
  readonly since: string | undefined;
  /** Keeps records that match all of them. Normalized. */
  readonly filters: Filters;
  /** The fields to read; undefined for all. A name that is none of the resource's selects nothing. */
  readonly fields?: ReadonlySet<string> | undefined;
}

const NO_FILTERS: Filters = Object.freeze({});

/** @throws AppError `invalid_parameter` or `invalid_cursor` */
export function pageFrom(resource: ResourceName, request: PageRequest): Page {
  const { brand_id, limit } = request;
  if (!idPattern("brd").test(brand_id)) {
    throw new AppError("invalid_parameter", `brand_id ${idRule("brd")}`, { field: "brand_id" });
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_LIMIT_MAX) {
    throw new AppError("invalid_parameter", `limit must be from 1 to ${PAGE_LIMIT_MAX}`, { field: "limit" });
  }
  const since = request.since == null ? undefined : sinceFrom(request.since);
  const filters = request.filters == null ? NO_FILTERS : filtersFrom(resource, request.filters);
  const after = request.cursor == null ? undefined : decodeCursor(request.cursor, { resource, since, filters });
  const fields = request.fields == null ? undefined : new Set(request.fields.names);
  return { brandId: brand_id, limit, after, since, filters, fields };
}

/**
 * Returns `since` rounded down to milliseconds. This loses no record: created_at has milliseconds, so "later than .1234567" and
 * "later than .123" select the same records.
 */
function sinceFrom(text: string): string {
  const instant = parseInstant(text);
  // Replaces a time outside the range of created_at by the nearest bound. It selects the same records, and Postgres accepts it.
  if (instant !== undefined) return formatInstant(Math.min(Math.max(instant, EARLIEST_INSTANT - 1), LATEST_INSTANT));
  throw new AppError("invalid_parameter", `since ${instantProblem(text)}`, { field: "since" });
}

/** Returns the cursor of the next page. Returns null if this page is not full: no records follow it. */
export function nextCursor(resource: ResourceName, page: Page, records: readonly Position[]): string | null {
  const last = records.at(-1);
  if (last === undefined || records.length < page.limit) return null;
  return encodeCursor({ resource, since: page.since, filters: page.filters }, last);
}

/** Filters as a request carries them. */
type GivenFilters = { readonly [Name in FilterName]?: string | null | undefined };

/** Later than every record. Postgres reads it as a time. */
export const END_OF_TIME = "infinity";

/**
 * Checks and normalizes a request's filters: times are UTC with milliseconds, or END_OF_TIME.
 *
 * @throws AppError `invalid_parameter` for the first that is malformed, or that the resource does not have
 */
function filtersFrom(resource: ResourceName, given: GivenFilters): Filters {
  const filters: { [Name in FilterName]?: string } = {};
  for (const name of FILTER_NAMES) {
    const value = given[name];
    if (value == null) continue;
    const problem = RESOURCES[resource].filters.includes(name)
      ? filterProblem(RESOURCES[resource], name, value)
      : `is no filter of ${resource}`;
    if (problem !== undefined) throw new AppError("invalid_parameter", `${name} ${problem}`, { field: name });
    filters[name] = name === "created_from" || name === "created_before" ? boundFrom(value) : value;
  }
  return filters;
}

/**
 * Returns a bound rounded up to milliseconds. created_at has milliseconds, so "at or after .1234" and "at or after .124" select the same
 * records, and so do "before .1234" and "before .124".
 */
function boundFrom(text: string): string {
  const instant = parseInstantUp(text) ?? Number.NaN;
  return instant > LATEST_INSTANT ? END_OF_TIME : formatInstant(Math.max(instant, EARLIEST_INSTANT));
}

interface RecordColumns {
  readonly brand_id: string;
  readonly resource: ResourceName;
  readonly record_id: string;
  readonly columns: readonly string[];
}

/** A stored record has values that a message cannot carry. It goes to our logs; callers get `internal_error`. */
export class UnservableRecord extends Error {
  override readonly name = "UnservableRecord";
  readonly logFields: RecordColumns;

  constructor(fields: RecordColumns) {
    const { brand_id, resource, record_id, columns } = fields;
    super(`records.${resource} ${record_id} of ${brand_id} cannot be served: see docs/platform.md for the values of ${columns.join(", ")}`);
    this.logFields = fields;
  }
}

const TIME = /^[2-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const kinds = Object.fromEntries(RESOURCE_NAMES.map((name) => [name, fieldsByKind(RESOURCES[name])])) as Record<
  ResourceName,
  ReturnType<typeof fieldsByKind>
>;

/**
 * Guards against rows that bypassed the tables' checks, for example after the owner dropped a constraint. Checks only
 * numbers and times, which a message would carry wrongly: 11 µs for a page of 50, where the whole schema takes 1,600.
 *
 * @throws UnservableRecord for the first such record
 */
export function requireServable(resource: ResourceName, brand_id: string, records: readonly object[]): void {
  const { numbers, times } = kinds[resource];
  for (const record of records as readonly Record<string, unknown>[]) {
    if (numbers.every((name) => isAmount(record[name])) && times.every((name) => isTime(record[name]))) continue;
    const columns = [...numbers.filter((name) => !isAmount(record[name])), ...times.filter((name) => !isTime(record[name]))];
    throw new UnservableRecord({ brand_id, resource, record_id: String(record["id"]), columns });
  }
}

/** Fields that were not asked for are undefined. */
const isAmount = (value: unknown): boolean => value == null || ((value as number) >= 0 && (value as number) <= Number.MAX_SAFE_INTEGER);
const isTime = (value: unknown): boolean => value == null || TIME.test(value as string);
