import { AppError } from "@brand-records/errors";
import {
  EARLIEST_INSTANT,
  formatInstant,
  instantProblem,
  LATEST_INSTANT,
  PAGE_LIMIT_MAX,
  parseInstant,
  type Filters,
  type ResourceName,
} from "@brand-records/resources";
import { idPattern, idRule } from "@brand-records/ids";
import { decodeCursor, encodeCursor, type Position } from "./cursor.ts";
import { filtersFrom, type GivenFilters } from "./filters.ts";

/** A request for one page of one brand's records of one resource. */
export interface PageRequest {
  readonly brand_id: string;
  readonly limit: number;
  readonly cursor?: string | null | undefined;
  readonly since?: string | null | undefined;
  readonly filters?: GivenFilters | null | undefined;
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
  return { brandId: brand_id, limit, after, since, filters };
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
