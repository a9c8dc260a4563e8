import type { Database } from "@brand-records/postgres";

const CHUNK = 1_000;

/** Lanes first, in their order, so that whoever counts what is in flight counts right; then what is still expired. */
const LOCK = `
  select l.receiver_id from webhook.lanes l
   where l.receiver_id in (select d.receiver_id from webhook.deliveries d
                            where d.state = 'sending' and d.lease_until < now() order by d.lease_until limit $1)
   order by l.receiver_id for update`;

const RELEASE = `
  with released as (
    update webhook.deliveries d set state = 'pending', lease = null, lease_until = null, due_at = now()
     where d.id = any(array(
       select x.id from webhook.deliveries x
        where x.state = 'sending' and x.lease_until < now() and x.receiver_id = any($2::text[])
        order by x.lease_until limit $1 for update skip locked))
    returning d.receiver_id),
  counted as (select receiver_id, count(*)::int as n from released group by receiver_id),
  lanes as (
    update webhook.lanes l set in_flight = greatest(0, l.in_flight - counted.n), next_due = least(l.next_due, now())
      from counted where l.receiver_id = counted.receiver_id)
  select coalesce(sum(n), 0)::int as released from counted`;

/**
 * Gives back what workers had when they died: due at once, and the attempt counts, for it may have been sent. Safe to run
 * anywhere, any number of times.
 */
export async function releaseExpiredLeases(db: Database): Promise<number> {
  return db.transaction(async (sql) => {
    const lanes = await sql.query<{ receiver_id: string }>(LOCK, [CHUNK]);
    if (lanes.length === 0) return 0;
    const [row] = await sql.query<{ released: number }>(RELEASE, [CHUNK, lanes.map(({ receiver_id }) => receiver_id)]);
    return row?.released ?? 0;
  });
}
