import { AppError } from "@brand-records/errors";
import { EARLIEST_INSTANT, formatInstant, LATEST_INSTANT, PAGE_LIMIT_MAX, parseInstant, type ResourceName } from "@brand-records/resources";
import { decodeCursor, encodeCursor, type Position } from "./cursor.ts";

/** Asked of one resource of one brand; see contract of the list operation. */
export interface PageRequest {
  readonly brand_id: string;
  readonly limit: number;
  readonly cursor?: string | null | undefined;
  readonly since?: string | null | undefined;
}

/** The same, checked. */
export interface Page {
  readonly brandId: string;
  readonly limit: number;
  /** Records before this one in the order of the list; undefined at the beginning. */
  readonly after: Position | undefined;
  /** Only records created strictly later; UTC with milliseconds. */
  readonly since: string | undefined;
}

/** @throws AppError `invalid_parameter` or `invalid_cursor` */
export function pageFrom(resource: ResourceName, request: PageRequest): Page {
  const { brand_id, limit } = request;
  if (!/^brd_[0-9a-z]{1,40}$/.test(brand_id))
    throw new AppError("invalid_parameter", "brand_id must be a brand's id", { field: "brand_id" });
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_LIMIT_MAX) {
    throw new AppError("invalid_parameter", `limit must be from 1 to ${PAGE_LIMIT_MAX}`, { field: "limit" });
  }
  const since = request.since == null ? undefined : sinceFrom(request.since);
  const after = request.cursor == null ? undefined : decodeCursor(request.cursor, resource, since);
  return { brandId: brand_id, limit, after, since };
}

/**
 * created_at has milliseconds, so "later than .1234567" and "later than .123" select the same records: rounding down
 * compares all nine digits exactly.
 */
function sinceFrom(text: string): string {
  const instant = parseInstant(text);
  // Earlier or later than any record can be selects the same as the bound does, and Postgres knows the bounds.
  if (instant !== undefined) return formatInstant(Math.min(Math.max(instant, EARLIEST_INSTANT - 1), LATEST_INSTANT));
  throw new AppError(
    "invalid_parameter",
    "since must be an RFC 3339 time with an offset, such as 2026-11-21T08:30:00+08:00 (in a URL the + is written %2B)",
    {
      field: "since",
    },
  );
}

/** The cursor of the page after this one; absent on a page that is not full, because that one is the last. */
export function nextCursor(resource: ResourceName, page: Page, records: readonly Position[]): string | null {
  const last = records.at(-1);
  if (last === undefined || records.length < page.limit) return null;
  return encodeCursor(resource, page.since, last);
}
