import { unnestRows, type BatchRow, type Sql, firstOf, isFound, statementsOf } from "@brand-records/postgres";
import type { Attempt, Delivery, DeliveryKey, DeliveryReference, Repeat } from "../domain/delivery.ts";
import { FINISHED, shown, UNFINISHED, UNLEASED } from "./delivery-columns.ts";
import type { TakenReplay } from "./replays.ts";
import { tryFirst, wakeLanes } from "./lanes.ts";
import { BOUND } from "./lane-bound.ts";

/** Columns of a new delivery. */
export const NEW_DELIVERY = {
  id: "text",
  receiver_id: "text",
  event_id: "text",
  event_created_at: "timestamptz",
  event_type: "text",
} as const;

const REPLAYED = unnestRows(NEW_DELIVERY, { as: "r", after: 1 });

export type NewDelivery = BatchRow<typeof REPLAYED>;

const statements = statementsOf("deliveries", {
  insertReplayed: `insert into webhook.deliveries (replay_id, ${REPLAYED.columns}) select $1, r.* from ${REPLAYED.relation}`,
  insertTest: `insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type, test, sign_with_next, due_at)
           values ($1, $2, $3, $4, $5, true, $6, $7)`,
  find: shown(`
      select ${UNFINISHED} from webhook.deliveries d join webhook.receivers r on r.id = d.receiver_id and r.brand_id = $1 where d.id = $2
      union all
      select ${FINISHED} from webhook.past_deliveries d where d.brand_id = $1 and d.id = $2`),
  /** A finished delivery has its last attempt, the others are in webhook.attempts: the event's time leads to their partition. */
  attempts: `with past as materialized (
             select event_created_at, attempt_id, attempts, started_at, duration_ms, outcome, http_status, error, response
               from webhook.past_deliveries where id = $1),
           event as (select event_created_at from past union all select event_created_at from webhook.deliveries where id = $1)
           select a.id, a.attempt, a.started_at, a.duration_ms, a.outcome, a.http_status, a.error, coalesce(a.response, '') as response
             from (select id, attempt, started_at, duration_ms, outcome, http_status, error, response
                     from webhook.attempts where delivery_id = $1 and event_created_at = (select event_created_at from event limit 1)
                   union all
                   select attempt_id, attempts, started_at, duration_ms, outcome, http_status, error, response
                     from past) a
            order by a.attempt, a.started_at, a.id`,
  /** Copies the event's time from the past delivery: it selects the partition. */
  repeat: `insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type, test, sign_with_next, due_at, repeat_of)
           select $1, p.receiver_id, p.event_id, p.event_created_at, p.event_type, p.test, p.sign_with_next, $3::timestamptz, p.id from webhook.past_deliveries p where p.id = $2`,
  hasten: "update webhook.deliveries d set due_at = $2::timestamptz where d.id = $1 and d.state = 'pending'",
  /** The clock's time, not the transaction's: it may have waited for the lane while another one made the delivery due. */
  isDelayed: `select from webhook.deliveries d join webhook.lanes l on l.receiver_id = d.receiver_id
            where d.id = $1 and d.state = 'pending' and greatest(d.due_at, l.open_until) > clock_timestamp()`,
  /** The last one: an index ends with it. Postgres would look for any later than now in the whole table. */
  anyIsDelayed: `select from webhook.lanes l cross join lateral (
             select d.due_at from webhook.deliveries d where d.receiver_id = l.receiver_id and d.state = 'pending'
              order by d.due_at desc, d.id desc limit 1) d
            where l.receiver_id = $1 and greatest(d.due_at, l.open_until) > clock_timestamp()`,
  firstPending: `select d.id from webhook.lanes l join webhook.deliveries d on d.receiver_id = l.receiver_id
            where l.receiver_id = $1 and d.state = 'pending' and (d.due_at, d.id) >= ${BOUND}
            order by d.due_at, d.id limit 1`,
});

/** Adds deliveries that a replay sends once more, due now. The lane must be locked. */
export async function insertReplayedDeliveries(sql: Sql, replay: TakenReplay, deliveries: readonly NewDelivery[]): Promise<void> {
  await sql.query(statements.insertReplayed, [replay.id, ...REPLAYED.values(deliveries)]);
  await wakeLanes(sql, [replay.receiver_id]);
}

export async function insertTestDelivery(
  sql: Sql,
  { id, receiver_id, event_id, event_created_at, event_type, sign_with_next }: NewDelivery & Pick<Delivery, "sign_with_next">,
): Promise<void> {
  const dueAt = await tryFirst(sql, receiver_id);
  await sql.query(statements.insertTest, [id, receiver_id, event_id, event_created_at, event_type, sign_with_next, dueAt]);
}

export const findDelivery = (sql: Sql, { brandId, deliveryId }: DeliveryKey): Promise<Delivery | undefined> =>
  firstOf(sql.query<Delivery>(statements.find, [brandId, deliveryId]));

export function attemptsOf(sql: Sql, deliveryId: string): Promise<Attempt[]> {
  return sql.query<Attempt>(statements.attempts, [deliveryId]);
}

/** Adds a new delivery of a past delivery's event, and tries it first. Its lane must be locked. */
export const repeatDelivery = async (sql: Sql, id: string, { id: pastId, receiver_id }: Delivery): Promise<unknown> =>
  sql.query(statements.repeat, [id, pastId, await tryFirst(sql, receiver_id)]);

/** Makes a delivery due now if it is pending, and tries it first. Its lane must be locked. */
export const hastenDelivery = async (sql: Sql, { id, receiver_id }: Pick<Delivery, "id" | "receiver_id">): Promise<unknown> =>
  sql.query(statements.hasten, [id, await tryFirst(sql, receiver_id)]);

/** Whether a pending delivery waits for its time, or for the end of its receiver's pause. Its lane must be locked. */
export const isDelayed = (sql: Sql, id: string): Promise<boolean> => isFound(sql.query(statements.isDelayed, [id]));

/** The same of any pending delivery of a receiver that has some. Its lane must be locked. */
export const anyIsDelayed = (sql: Sql, receiverId: string): Promise<boolean> => isFound(sql.query(statements.anyIsDelayed, [receiverId]));

/** Returns the id of the pending delivery of a receiver that is due first. */
export const firstPending = async (sql: Sql, receiverId: string): Promise<string | undefined> =>
  (await firstOf(sql.query<Pick<Delivery, "id">>(statements.firstPending, [receiverId])))?.id;

/** Shown with the delivery that was sent again. */
const REPEATS_MAX = 20;

const OF = "d.event_id = $2 and d.repeat_of = $1";

const repeats = statementsOf("repeats", {
  /** An event has few deliveries, and an index leads to them. Those being sent are few. */
  ofDelivery: `
    select r.id, r.created_at, r.is_finished, extract(epoch from clock_timestamp() - r.created_at)::float8 as age_seconds from (
      select d.id, d.created_at, false as is_finished from webhook.deliveries d where d.state = 'pending' and d.${UNLEASED} and ${OF}
      union all
      select d.id, d.created_at, false from webhook.deliveries d where d.state = 'sending' and d.receiver_id = $3 and ${OF}
      union all
      select d.id, d.created_at, true from webhook.past_deliveries d where ${OF}) r
     order by r.id desc limit ${REPEATS_MAX}`,
  reference: "select d.id, d.created_at from webhook.past_deliveries d where d.id = $1 and d.event_id = $2",
});

/** Returns the deliveries that sent this one again, newest first: 20 at most. */
export function repeatsOf(sql: Sql, { id, event_id, receiver_id }: Delivery): Promise<Repeat[]> {
  return sql.query<Repeat>(repeats.ofDelivery, [id, event_id, receiver_id]);
}

/** Returns the delivery that this one sends again; undefined if it sends none again, or the other is no longer stored. */
export async function originalOf(sql: Sql, { repeat_of, event_id }: Delivery): Promise<DeliveryReference | undefined> {
  if (repeat_of === null) return undefined;
  const [row] = await sql.query<DeliveryReference>(repeats.reference, [repeat_of, event_id]);
  return row;
}
