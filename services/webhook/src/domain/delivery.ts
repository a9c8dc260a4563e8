import { AppError } from "@brand-records/errors";

/** `held` is pending at a receiver that is disabled. */
export const DELIVERY_STATES = ["pending", "sending", "held", "delivered", "failed"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** An event on its way to a receiver, or at the end of it. */
export interface Delivery {
  readonly id: string;
  readonly receiver_id: string;
  readonly event_id: string;
  /** Empty if the event is not kept any more. */
  readonly event_type: string;
  readonly state: DeliveryState;
  /** Attempts begun. */
  readonly attempts: number;
  readonly test: boolean;
  readonly created_at: string;
  /** Of a pending one. */
  readonly due_at: string | null;
  /** Of one that is over. */
  readonly finished_at: string | null;
}

export interface Attempt {
  readonly id: string;
  readonly attempt: number;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly outcome: string;
  readonly http_status: number | null;
  readonly error: string | null;
  readonly response: Buffer;
}

/** Which delivery, and whose: no look-up goes without the brand. */
export interface DeliveryKey {
  readonly brandId: string;
  readonly deliveryId: string;
}

/** Also for another brand's delivery: nobody learns which ids exist. */
export const noSuchDelivery = (): AppError =>
  new AppError("not_found", "There is no delivery of this id, or it is not kept any more", { field: "delivery_id" });
