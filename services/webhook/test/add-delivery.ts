import type { Database } from "@brand-records/postgres";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { newId } from "@brand-records/ids";
import { ensureDays } from "../src/storage/daily-partitions.ts";

export interface AddedDelivery {
  readonly id: string;
  readonly event_id: string;
}

export interface NewDelivery {
  /** When both are created, RFC 3339. */
  readonly at: string;
  /** Default: delivered. */
  readonly state?: "pending" | "sending" | "delivered" | "failed";
  readonly type?: string;
  /** Default: a new one. */
  readonly event?: string;
  /** What a new event is about. Default: po_1. */
  readonly record?: string;
  /** HTTP status of the attempt that finished it, or else of an attempt before the next; null: no response came. Default: no attempt. */
  readonly status?: number | null;
  readonly test?: boolean;
}

/** Adds a delivery in any state, and its event unless that is given. */
export async function addDelivery(
  db: Database,
  { brand_id, id: receiverId }: Pick<Receiver, "brand_id" | "id">,
  { at, state = "delivered", type = "payout.paid", event, record = "po_1", status, test = false }: NewDelivery,
): Promise<AddedDelivery> {
  const [id, eventId] = [newId("dlv", Date.parse(at)), event ?? newId("evt", Date.parse(at))];
  await ensureDays(db, [at.slice(0, 10)]);
  if (event === undefined) {
    await db.query(
      `insert into webhook.events (id, created_at, brand_id, type, data, test, received_at) values ($1, $2, $3, $4, $6::json, $5, $2)`,
      [eventId, at, brand_id, type, test, JSON.stringify({ id: record })],
    );
  }
  const common = "id, receiver_id, event_id, event_created_at, created_at, test, event_type, state";
  const values = [id, receiverId, eventId, at, test, type, state];
  const eventTime = "(select created_at from webhook.events where id = $3)";
  if (state === "pending" || state === "sending") {
    await db.query(
      `insert into webhook.deliveries (${common}, lease, lease_until)
       select $1, $2, $3, ${eventTime}, $4::timestamptz, $5::boolean, $6, $7::text, lease, case when lease is not null then now() + interval '1 min' end
         from (select case when $7::text = 'sending' then gen_random_uuid() end as lease) l`,
      values,
    );
  } else {
    await db.query(
      `insert into webhook.past_deliveries (${common}, brand_id, attempts, attempt_id, started_at, duration_ms, outcome)
       values ($1, $2, $3, ${eventTime}, $4::timestamptz, $5::boolean, $6, $7, $8, 1, $9, $4::timestamptz, 120, 'unknown')`,
      [...values, brand_id, newId("att")],
    );
  }
  if (status !== undefined) await addAttempt(db, id, status);
  return { id, event_id: eventId };
}

/** Gives a delivery its last attempt, where it is stored: with a finished one, apart from others. */
async function addAttempt(db: Database, id: string, status: number | null): Promise<void> {
  const outcome = status === null ? "timeout" : status < 300 ? "accepted" : "refused";
  const attempt = [id, newId("att"), outcome, status];
  await db.query(
    `with finished as (
       update webhook.past_deliveries set attempt_id = $2, started_at = created_at, duration_ms = 120, outcome = $3, http_status = $4 where id = $1
       returning id),
     waiting as (update webhook.deliveries set attempt = 1 where id = $1 returning event_created_at, created_at)
     insert into webhook.attempts (id, delivery_id, event_created_at, attempt, started_at, duration_ms, outcome, http_status)
     select $2, $1, event_created_at, 1, created_at, 120, $3, $4 from waiting`,
    attempt,
  );
}
