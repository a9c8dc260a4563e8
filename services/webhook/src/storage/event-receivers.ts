import { unnestRows, type Sql, type Statement } from "@brand-records/postgres";
import type { EventPosition, ReceiverCounts } from "../domain/event.ts";
import { UNLEASED } from "./by-index.ts";

/** Deliveries of an event that are looked at: it has one for each receiver, unless it was sent again very often. */
const DELIVERIES_MAX = 200;

const EVENTS = unnestRows({ id: "text", created_at: "timestamptz" }, { as: "e" });

/** Every event is looked up by its index in each table. Deliveries in flight are few, and no index has their events: they are read once. */
const COUNTS: Statement = {
  name: "event_receivers.counts",
  text: `
    with sending as materialized (select d.event_id, d.receiver_id from webhook.deliveries d where d.state = 'sending')
    select e.id, c.receivers, c.receivers_accepted
      from ${EVENTS.relation}
     cross join lateral (
       select count(distinct d.receiver_id)::int as receivers,
              (count(distinct d.receiver_id) filter (where d.is_accepted))::int as receivers_accepted
         from ((select p.receiver_id, p.state = 'delivered' as is_accepted from webhook.past_deliveries p
                 where p.event_id = e.id and p.event_created_at = e.created_at limit ${DELIVERIES_MAX})
               union all
               (select w.receiver_id, false from webhook.deliveries w
                 where w.event_id = e.id and w.state = 'pending' and w.${UNLEASED} limit ${DELIVERIES_MAX})
               union all
               (select s.receiver_id, false from sending s where s.event_id = e.id limit ${DELIVERIES_MAX})) d) c`,
};

export const NO_RECEIVERS: ReceiverCounts = { receivers: 0, receivers_accepted: 0 };

/** Returns, by the event's id, how many receivers it was or is to be delivered to, and how many accepted it. */
export async function receiversOf(sql: Sql, events: readonly EventPosition[]): Promise<Map<string, ReceiverCounts>> {
  const rows = await sql.query<ReceiverCounts & { readonly id: string }>(COUNTS, EVENTS.values(events));
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
}
