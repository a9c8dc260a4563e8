import { type Sql, firstOf, statementsOf } from "@brand-records/postgres";
import type { EventPosition } from "../domain/event.ts";

const statements = statementsOf("brand_deletion", {
  /** Waits for every transaction that has locked the brand. */
  lock: "select from webhook.brands b where b.brand_id = $1 for update",
  close: `update webhook.brands b set deletion_started_at = clock_timestamp() where b.brand_id = $1 and b.deletion_started_at is null`,
  disableReceivers: `update webhook.receivers r set enabled = false, disabled_reason = 'member', disabled_at = now() where r.brand_id = $1 and r.enabled`,
  receiverIds: "select r.id from webhook.receivers r where r.brand_id = $1 order by r.id",
  /** Attempts of a delivery without any are not looked for: most were never tried. */
  dropDeliveries: `with dropped as (
             delete from webhook.deliveries where id = any(array(
               select d.id from webhook.deliveries d where d.receiver_id = $1 and d.state = 'pending'
                order by d.due_at, d.id limit $2 for update skip locked))
             returning id, attempt),
           tried as (delete from webhook.attempts where delivery_id = any(array(select id from dropped where attempt > 0)))
           select count(*) as rows from dropped`,
  countDeliveries: `select count(*) filter (where d.state = 'sending') as sending, count(*) as all
             from (select d.state from webhook.deliveries d where d.receiver_id = any($1::text[]) and d.state = 'pending'
                   union all
                   select d.state from webhook.deliveries d where d.receiver_id = any($1::text[]) and d.state = 'sending') d`,
  removeInFlight: `with removed as (
             delete from webhook.deliveries d where d.receiver_id = any($1::text[]) and d.state = 'sending' returning d.id),
           tried as (delete from webhook.attempts a where a.delivery_id = any(array(select id from removed)))
           select count(*) as rows from removed`,
  nextEvents: `select e.id, e.created_at from webhook.events e
            where e.brand_id = $1 and (e.created_at, e.id) > ($2::timestamptz, $3) and e.created_at >= $2::timestamptz
            order by e.created_at, e.id limit $4`,
  /** The range of times prunes partitions. */
  deletePast: `with past as (
             delete from webhook.past_deliveries p
              where p.event_id = any($1::text[]) and p.event_created_at between $2::timestamptz and $3::timestamptz returning p.id)
           delete from webhook.attempts a
            where a.delivery_id = any(array(select id from past)) and a.event_created_at between $2::timestamptz and $3::timestamptz`,
  deleteEvents: `delete from webhook.events e where e.id = any($1::text[]) and e.created_at between $2::timestamptz and $3::timestamptz`,
  /** Lanes and replays go with their receivers. */
  deleteReceivers: "delete from webhook.receivers r where r.brand_id = $1 returning 1",
  deleteBrand: "delete from webhook.brands b where b.brand_id = $1",
});

/** Closes a brand: no event of it is stored from now on, and no receiver added. Waits for transactions that do. Its lanes must be locked. */
export async function markClosed(sql: Sql, brandId: string): Promise<void> {
  await sql.query(statements.lock, [brandId]);
  await sql.query(statements.close, [brandId]);
}

/** So that no test is sent. */
export const disableReceiversOf = (sql: Sql, brandId: string): Promise<unknown> => sql.query(statements.disableReceivers, [brandId]);

export async function receiverIdsOf(sql: Sql, brandId: string): Promise<string[]> {
  return (await sql.query<{ id: string }>(statements.receiverIds, [brandId])).map(({ id }) => id);
}

/** Drops up to `limit` pending deliveries of a receiver whose lane is held, with their attempts. Returns how many. */
export const dropDeliveriesOf = async (sql: Sql, receiverId: string, limit: number): Promise<number> =>
  (await firstOf(sql.query<{ rows: number }>(statements.dropDeliveries, [receiverId, limit])))?.rows ?? 0;

/** Counts the unfinished deliveries of receivers, and those among them whose attempt is in flight. */
export const countDeliveriesOf = async (sql: Sql, receiverIds: readonly string[]): Promise<{ all: number; sending: number }> =>
  (await firstOf(sql.query<{ all: number; sending: number }>(statements.countDeliveries, [receiverIds]))) ?? { all: 0, sending: 0 };

/** Removes the deliveries in flight of receivers whose lanes are locked, with their earlier attempts. Returns how many. */
export const removeInFlightOf = async (sql: Sql, receiverIds: readonly string[]): Promise<number> =>
  (await firstOf(sql.query<{ rows: number }>(statements.removeInFlight, [receiverIds])))?.rows ?? 0;

export const BEFORE_ALL_EVENTS: EventPosition = { id: "", created_at: "-infinity" };

/** Deletes a brand's next events after a place, up to `limit`, with their finished deliveries and attempts. Returns them, oldest first. */
export async function deleteEventsOf(sql: Sql, brandId: string, after: EventPosition, limit: number): Promise<EventPosition[]> {
  const events = await sql.query<EventPosition>(statements.nextEvents, [brandId, after.created_at, after.id, limit]);
  const values = [events.map(({ id }) => id), events.at(0)?.created_at, events.at(-1)?.created_at];
  if (events.length === 0) return events;
  await sql.query(statements.deletePast, values);
  await sql.query(statements.deleteEvents, values);
  return events;
}

/** Deletes the receivers and the brand. Their lanes must be locked. Returns how many receivers. */
export async function deleteReceiversAndBrand(sql: Sql, brandId: string): Promise<number> {
  const receivers = await sql.query(statements.deleteReceivers, [brandId]);
  await sql.query(statements.deleteBrand, [brandId]);
  return receivers.length;
}
