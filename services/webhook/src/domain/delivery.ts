import { AppError } from "@brand-records/errors";
import type * as messages from "@brand-records/proto/webhook/v1";
import type { RowOf } from "@brand-records/proto/rows";

/**
 * The states of a delivery, and what ends each. The lane of its receiver is locked at every change.
 *
 * - `pending`: waits until it is due. A claim leases it (storage/claims.ts); intake leases a first attempt as it adds it
 *   (storage/first-attempts.ts).
 * - `held`: as members see what is pending at a disabled receiver. No claim looks at it.
 * - `sending`: leased to a process. It ends with the attempt's result (storage/results.ts), unsent (`returnClaims`), or when the lease
 *   expires, because the process died (storage/leases.ts): `pending` again while attempts are left.
 * - `delivered`, `failed`: moved to `webhook.past_deliveries`.
 *
 * A delivery whose receiver, event or brand is gone is removed.
 */
export const DELIVERY_STATES = ["pending", "sending", "held", "delivered", "failed"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Deliveries on a page of a list, unless a caller asks for another number. */
export const PAGE_LIMIT = 50;

/** Classes of the HTTP status of a last attempt; `none`: no response came. */
export const STATUS_CLASSES = ["2xx", "3xx", "4xx", "5xx", "none"] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

/**
 * Returns those of the states whose deliveries can have a status of this class: what was delivered has 2xx, so that a search for refusals need
 * not read it.
 */
export const statesWith = (statusClass: StatusClass | null, states: readonly DeliveryState[]): DeliveryState[] =>
  states.filter((state) => statusClass === null || statusClass === "2xx" || state !== "delivered");

/** The sending of one event to one receiver. */
export type Delivery = RowOf<
  Omit<messages.Delivery, "sending_since" | "deadline_ms">,
  { readonly state: DeliveryState; readonly lease_until: string | null }
>;

export type Attempt = RowOf<Omit<messages.Attempt, "request_headers">>;

/** Identifies a delivery together with its brand, so that no look-up omits the brand. */
export interface DeliveryKey {
  readonly brandId: string;
  readonly deliveryId: string;
}

/** @throws AppError `not_found`, also for another brand's delivery, so that ids cannot be probed */
export function requireDelivery(delivery: Delivery | undefined): Delivery {
  if (delivery !== undefined) return delivery;
  throw new AppError("not_found", "There is no delivery with this id, or it is no longer stored", { field: "delivery_id" });
}

/** Time beyond the deadline for the claim before an attempt and the result after it. */
const LEASE_MARGIN_SECONDS = 15;

/** Returns how long a claimed delivery belongs to its worker. */
export const leaseSecondsFor = (deadlineMs: number): number => Math.ceil(deadlineMs / 1_000) + LEASE_MARGIN_SECONDS;

/** Returns when a lease began: the attempt starts at once. The start is not stored, as every claim would write it. */
export const leaseStart = (leaseUntil: string, leaseSeconds: number): string =>
  new Date(Date.parse(leaseUntil) - leaseSeconds * 1_000).toISOString();

/** Within this time a delivery is not sent again once more: somebody pressed twice, or a call was repeated. */
const REPEAT_SECONDS = 5;

/** Another delivery of the same event to the same receiver. */
export type DeliveryReference = RowOf<messages.DeliveryReference>;

export interface Repeat extends DeliveryReference {
  readonly is_finished: boolean;
  readonly age_seconds: number;
}

/** Tells whether a repeat stands for another request to send the same delivery again: it waits, is being sent, or is only seconds old. */
export const isPresent = ({ is_finished, age_seconds }: Pick<Repeat, "is_finished" | "age_seconds">): boolean =>
  !is_finished || age_seconds < REPEAT_SECONDS;

/** Attempts of some time. Durations are those of all measured attempts, null without one. */
export type AttemptStats = RowOf<messages.AttemptStats>;

/** A receiver's attempts by hour, tests excluded. */
export type DeliveryStats = RowOf<messages.GetDeliveryStatsResponse>;
