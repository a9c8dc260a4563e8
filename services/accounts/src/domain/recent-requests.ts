import type { ListRequestsRequest, ServedRequest } from "@brand-records/proto/accounts/v1";
import type { Position } from "./page-token.ts";

/** Requests of a brand that are kept: the newest. */
export const REQUESTS_PER_BRAND_MAX = 1_000;
/** What a status selects: an outcome, or that status alone. */
export const STATUS = /^(succeeded|failed|[1-5]\d\d)$/;

/** A request with its place among those of its brand, in the order in which they were recorded. */
export type RecentRequest = ServedRequest & { readonly place: number };

/** A tool's refusal has a code and the status 200; of a client that disconnects it is the other way round. */
const outcomeOf = ({ code, http_status }: ServedRequest): string => (code === "" && http_status < 400 ? "succeeded" : "failed");

/** Whether a list has a request: its filters select it, and it comes after the position. */
export const isListed = (
  request: RecentRequest,
  { key_id, route, status, request_id }: ListRequestsRequest,
  [at, place]: Position,
): boolean =>
  (key_id == null || request.key_id === key_id) &&
  (route == null || request.route === route) &&
  (status == null || String(request.http_status) === status || outcomeOf(request) === status) &&
  (request_id == null || request.request_id === request_id) &&
  (at === undefined || request.at < at || (request.at === at && request.place < Number(place)));
