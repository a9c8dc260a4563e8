import type { Database } from "@brand-records/postgres";
import type { ClaimedDelivery } from "./claims.ts";

const LOCK = "select from webhook.lanes where receiver_id = any($1::text[]) order by receiver_id for update";

const ABANDON = `
  with abandoned as (
    delete from webhook.deliveries d using unnest($1::text[], $2::uuid[]) as t(id, lease)
     where d.id = any($1::text[]) and d.id = t.id and d.lease = t.lease returning d.receiver_id),
  counted as (select receiver_id, count(*)::int as n from abandoned group by receiver_id)
  update webhook.lanes l set in_flight = greatest(0, l.in_flight - counted.n) from counted where l.receiver_id = counted.receiver_id`;

const RETURN = `
  with returned as (
    update webhook.deliveries d set state = 'pending', attempt = d.attempt - 1, lease = null, lease_until = null
      from unnest($1::text[], $2::uuid[]) as t(id, lease)
     where d.id = any($1::text[]) and d.id = t.id and d.lease = t.lease returning d.receiver_id),
  counted as (select receiver_id, count(*)::int as n from returned group by receiver_id)
  update webhook.lanes l set in_flight = greatest(0, l.in_flight - counted.n), next_due = least(l.next_due, now())
    from counted where l.receiver_id = counted.receiver_id`;

type Claim = Pick<ClaimedDelivery, "id" | "receiver_id" | "lease">;

/** Returns claims of which no request was sent: they are due again, and the attempt does not count. */
export const returnClaims = (db: Database, claims: readonly Claim[]): Promise<void> => changeClaims(db, RETURN, claims);

/** Takes out deliveries that nothing can come of: their event is not kept any more, or their receiver is gone. */
export const abandonDeliveries = (db: Database, claims: readonly Claim[]): Promise<void> => changeClaims(db, ABANDON, claims);

/** Lanes first, in their order. */
async function changeClaims(db: Database, statement: string, claims: readonly Claim[]): Promise<void> {
  await db.transaction(async (sql) => {
    await sql.query(LOCK, [claims.map(({ receiver_id }) => receiver_id)]);
    await sql.query(statement, [claims.map(({ id }) => id), claims.map(({ lease }) => lease)]);
  });
}
