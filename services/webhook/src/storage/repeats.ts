import type { Sql, Statement } from "@brand-records/postgres";
import type { Delivery, DeliveryReference, Repeat } from "../domain/delivery.ts";
import { UNLEASED } from "./delivery-columns.ts";

/** Shown with the delivery that was sent again. */
const REPEATS_MAX = 20;

const OF = "d.event_id = $2 and d.repeat_of = $1";

/** An event has few deliveries, and an index leads to them. Those being sent are few. */
const REPEATS: Statement = {
  name: "repeats.of_delivery",
  text: `
    select r.id, r.created_at, r.is_finished, extract(epoch from clock_timestamp() - r.created_at)::float8 as age_seconds from (
      select d.id, d.created_at, false as is_finished from webhook.deliveries d where d.state = 'pending' and d.${UNLEASED} and ${OF}
      union all
      select d.id, d.created_at, false from webhook.deliveries d where d.state = 'sending' and d.receiver_id = $3 and ${OF}
      union all
      select d.id, d.created_at, true from webhook.past_deliveries d where ${OF}) r
     order by r.id desc limit ${REPEATS_MAX}`,
};

const REFERENCE: Statement = {
  name: "repeats.reference",
  text: "select d.id, d.created_at from webhook.past_deliveries d where d.id = $1 and d.event_id = $2",
};

/** Returns the deliveries that sent this one again, newest first: 20 at most. */
export function repeatsOf(sql: Sql, { id, event_id, receiver_id }: Delivery): Promise<Repeat[]> {
  return sql.query<Repeat>(REPEATS, [id, event_id, receiver_id]);
}

/** Returns the delivery that this one sends again; undefined if it sends none again, or the other is no longer stored. */
export async function originalOf(sql: Sql, { repeat_of, event_id }: Delivery): Promise<DeliveryReference | undefined> {
  if (repeat_of === null) return undefined;
  const [row] = await sql.query<DeliveryReference>(REFERENCE, [repeat_of, event_id]);
  return row;
}
