import { randomUUID } from "node:crypto";
import { newId } from "@brand-records/ids";
import type { ClaimedDelivery } from "../src/storage/claims.ts";
import type { AttemptResult } from "../src/storage/results.ts";

const ACCEPTED = { outcome: "accepted", http_status: 204, error: null, response: null, state: "delivered", delay_seconds: null } as const;

/** A delivery that is being sent, as far as a test knows it. */
export type Sent = Pick<ClaimedDelivery, "id" | "receiver_id" | "event_id" | "event_created_at"> & Partial<ClaimedDelivery>;

/** The sender's result of an attempt. Default: it was accepted. */
export const resultOf = (delivery: Sent, more: Partial<AttemptResult> = {}): AttemptResult => ({
  delivery_id: delivery.id,
  lease: delivery.lease ?? randomUUID(),
  brand_id: delivery.brand_id ?? "",
  receiver_id: delivery.receiver_id,
  event_id: delivery.event_id,
  event_created_at: delivery.event_created_at,
  delivery_created_at: delivery.created_at ?? delivery.event_created_at,
  url: delivery.url ?? "",
  test: false,
  tested_secret: null,
  attempt_id: newId("att"),
  attempt: delivery.attempt ?? 1,
  started_at: new Date().toISOString(),
  duration_ms: 20,
  ...ACCEPTED,
  ...more,
});
