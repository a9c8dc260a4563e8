import type { Database } from "@brand-records/postgres";
import type { ClaimedDelivery } from "./claims.ts";

const LOCK = "select from webhook.lanes where receiver_id = any($1::text[]) order by receiver_id for update";

const ABANDON = `
  with abandoned as (
    delete from webhook.deliveries d using unnest($1::text[], $2::uuid[]) as t(id, lease)
     where d.id = any($1::text[]) and d.id = t.id and d.lease = t.lease returning d.receiver_id),
  counted as (select receiver_id, count(*)::int as n from abandoned group by receiver_id)
  update webhook.lanes l set in_flight = greatest(0, l.in_flight - counted.n) from counted where l.receiver_id = counted.receiver_id`;

/** Takes out deliveries that nothing can come of: their event is not kept any more, or their receiver is gone. */
export async function abandonDeliveries(
  db: Database,
  deliveries: readonly Pick<ClaimedDelivery, "id" | "receiver_id" | "lease">[],
): Promise<void> {
  await db.transaction(async (sql) => {
    await sql.query(LOCK, [deliveries.map(({ receiver_id }) => receiver_id)]);
    await sql.query(ABANDON, [deliveries.map(({ id }) => id), deliveries.map(({ lease }) => lease)]);
  });
}
