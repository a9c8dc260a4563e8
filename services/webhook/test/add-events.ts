import { idSequence, newId } from "@brand-records/ids";
import { EVENT_TYPES } from "@brand-records/resources";
import type { Database } from "@brand-records/postgres";
import type { NewEvent } from "../src/storage/events.ts";

export interface AddedEvents {
  readonly brandId: string;
  /** Time of the first, RFC 3339. Each following one is a millisecond later. */
  readonly from: string;
  readonly count: number;
  readonly type?: string;
  readonly test?: boolean;
  /** When they were stored. Default: their own time. */
  readonly receivedAt?: string;
}

let batches = 0;

/** Adds events as intake stores them, without deliveries. Returns their ids, which rise with their time. */
export async function addEvents(
  db: Database,
  { brandId, from, count, type = "payout.paid", test = false, receivedAt }: AddedEvents,
): Promise<string[]> {
  const last = new Date(Date.parse(from) + count).toISOString();
  for (const day of new Set([from.slice(0, 10), last.slice(0, 10)])) await db.query("select webhook.ensure_day($1::date)", [day]);
  const rows = await db.query<{ id: string }>(
    `insert into webhook.events (id, created_at, brand_id, type, data, test, received_at)
     select 'evt_' || $1 || lpad(n::text, 8, '0'), at, $2, $3, '{"id":"po_1"}', $4, coalesce($5::timestamptz, at)
       from generate_series(0, $6::int - 1) n, lateral (select $7::timestamptz + n * interval '1 millisecond' as at) t
     returning id`,
    [`${(batches += 1)}x`, brandId, type, test, receivedAt ?? null, count, from],
  );
  return rows.map(({ id }) => id).toSorted();
}

/** Returns the message of a new event of a brand, as the log has it. */
export function messageOf(brandId: string) {
  const at = Date.now();
  const event = { id: newId("evt", at), type: "payout.paid", created_at: new Date(at).toISOString(), brand_id: brandId };
  const data = EVENT_TYPES["payout.paid"].example(event.created_at);
  return { key: data.id, value: Buffer.from(JSON.stringify({ ...event, data })), headers: {}, position: "topic/0@1" };
}

const nextEventId = idSequence("evt");

/** Returns events of one record of a brand, in order, as intake stores them. */
export const newEvents = (brand_id: string, count = 1): NewEvent[] =>
  Array.from({ length: count }, () => ({
    id: nextEventId(),
    created_at: new Date().toISOString(),
    brand_id,
    type: "submission.approved",
    data: JSON.stringify({ resource: "submissions", id: "sub_1" }),
    traceparent: null,
  }));
