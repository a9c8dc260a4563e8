import type { ListRequestsRequest, ServedRequest } from "@brand-records/proto/accounts/v1";
import type { Position } from "./page-token.ts";

/** Requests of a brand that are kept: the newest. */
export const REQUESTS_PER_BRAND_MAX = 1_000;
/** What a status selects: an outcome, or that status alone. */
export const STATUS = /^(succeeded|failed|[1-5]\d\d)$/;

/** A request with its place among those of its brand, in the order in which they were recorded. */
export type RecentRequest = ServedRequest & { readonly place: number };

/** A tool's refusal has a code and the status 200; of a client that disconnects it is the other way round. */
const hasFailed = ({ code, http_status }: ServedRequest): boolean => code !== "" || http_status >= 400;

const hasStatus = (request: ServedRequest, status: string): boolean =>
  /^\d/.test(status) ? String(request.http_status) === status : hasFailed(request) === (status === "failed");

/** Whether a list has a request: its filters select it, and it comes after the position. */
export function isListed(request: RecentRequest, { key_id, route, status, request_id }: ListRequestsRequest, after: Position): boolean {
  const [at, place] = after;
  return (
    (key_id == null || request.key_id === key_id) &&
    (route == null || request.route === route) &&
    (status == null || hasStatus(request, status)) &&
    (request_id == null || request.request_id === request_id) &&
    (at === undefined || request.at < at || (request.at === at && request.place < Number(place)))
  );
}

/** Orders requests by time, the newest first. Gateways record theirs in batches. */
export const newestFirst = (one: RecentRequest, other: RecentRequest): number =>
  one.at === other.at ? other.place - one.place : one.at < other.at ? 1 : -1;
