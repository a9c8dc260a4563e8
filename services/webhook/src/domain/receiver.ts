import { AppError } from "@brand-records/errors";

/** Receivers a brand may have: contract. */
export const RECEIVERS_MAX = 20;

/** A brand's receiver as its owners may see it: without its secret. */
export interface Receiver {
  readonly id: string;
  readonly brand_id: string;
  readonly url: string;
  readonly label: string;
  readonly events: string[];
  readonly enabled: boolean;
  readonly disabled_reason: "member" | "gone" | "failing" | null;
  readonly disabled_at: string | null;
  readonly last_status: number | null;
  readonly last_delivery_at: string | null;
  readonly failures: number;
  /** Deliveries that wait, counted up to a bound: see storage. */
  readonly waiting: number;
  /** Attempts under way at once, at most. */
  readonly max_in_flight: number;
  /** There is a next secret, to be activated. */
  readonly rotating: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Which receiver, and whose: no look-up goes without the brand. */
export interface ReceiverKey {
  readonly brandId: string;
  readonly receiverId: string;
}

/** Also for another brand's receiver: nobody learns which ids exist. */
export const noSuchReceiver = (): AppError => new AppError("not_found", "There is no receiver of this id", { field: "receiver_id" });

/** @throws AppError `not_found` */
export function existing(receiver: Receiver | undefined): Receiver {
  if (receiver === undefined) throw noSuchReceiver();
  return receiver;
}

export const duplicateUrl = (): AppError =>
  new AppError("duplicate_url", "Another receiver of the brand has this URL. Change that one, or choose another URL.", { field: "url" });
