import { AppError } from "@brand-records/errors";
import { parseInstant } from "@brand-records/resources";
import { hash } from "node:crypto";

/** 200 members of the longest addresses take 60 KB, 200 keys of the longest names 140 KB. */
export const LIST_PAGE_MAX = 200;

export interface PageRequest {
  readonly page_size: number;
  readonly page_token?: string | null | undefined;
}

/** The parts of what stands for the last row of a page; none: before the first page. */
export type Position = readonly (string | undefined)[];

export interface TokenPage<Row> {
  readonly rows: Row[];
  /** Null on the last page. */
  readonly nextPageToken: string | null;
}

/**
 * Returns the first `limit` of `limit + 1` rows that were asked for, with an opaque token to continue after the last.
 *
 * @param scope what the list selects: the token is for the same list only
 */
export function pageOf<Row>(
  found: readonly Row[],
  limit: number,
  scope: readonly unknown[],
  positionOf: (last: Row) => readonly unknown[],
): TokenPage<Row> {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const isLastPage = found.length === rows.length || last === undefined;
  return { rows, nextPageToken: isLastPage ? null : pageToken(scope, positionOf(last)) };
}

export const pageToken = (scope: readonly unknown[], position: readonly unknown[]): string =>
  Buffer.from(["1", digestOf(scope), ...position].join(" ")).toString("base64url");

/**
 * Returns the parts of a position, as `form` captures them; none without a token.
 *
 * @param whole what the pages are of, for people
 * @throws AppError `invalid_cursor` for a token of another list, and for any other text
 */
export function positionIn(scope: readonly unknown[], token: string | null | undefined, form: RegExp, whole = "list"): Position {
  if (token == null) return [];
  const [, digest, position = ""] = /^1 ([0-9a-f]{16}) (.+)$/.exec(Buffer.from(token, "base64url").toString()) ?? [];
  const parts = digest === digestOf(scope) ? form.exec(position) : null;
  if (parts !== null && parts.slice(1).every(isStorable)) return parts.slice(1);
  throw new AppError("invalid_cursor", `page_token is not one of this ${whole}. Start again without it.`, { field: "page_token" });
}

/**
 * Anyone can make a token: a time that no calendar has would be an error of the database. An address may begin with a year, and has no
 * capital letter.
 */
const isStorable = (part: string): boolean => !/^\d{4}-\d\d-\d\dT/.test(part) || parseInstant(part) !== undefined;

/** Catches a mistake, not an attack: every query is bound to the brand. */
const digestOf = (scope: readonly unknown[]): string => hash("sha256", JSON.stringify(scope)).slice(0, 16);
