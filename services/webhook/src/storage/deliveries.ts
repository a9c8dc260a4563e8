import type { Sql, Statement } from "@brand-records/postgres";
import type { Attempt, Delivery, DeliveryKey, DeliveryState } from "../domain/delivery.ts";
import { wakeLanes } from "./lanes.ts";

/** Sorts after every delivery id. */
const BEYOND = "dlv_~";

const UNFINISHED = `d.id, d.receiver_id, d.event_id, d.event_created_at, d.state, d.attempt as attempts, d.test, d.created_at,
  d.due_at, null::timestamptz as finished_at, d.lease_until, d.sign_with_next`;
const FINISHED = `p.id, p.receiver_id, p.event_id, p.event_created_at, p.state, p.attempts, p.test, p.created_at,
  null::timestamptz as due_at, p.finished_at, null::timestamptz as lease_until, p.sign_with_next`;

/**
 * Deliveries as members see them: pending ones are shown as held if their lane is held. Event types and last attempts are
 * looked up one by one: a join read every event.
 */
const shown = (deliveries: string): string => `
  select o.id, o.receiver_id, o.event_id,
         coalesce((select e.type from webhook.events e where e.id = o.event_id and e.created_at = o.event_created_at), '') as event_type,
         case when o.state = 'pending' and l.held then 'held' else o.state end as state, o.attempts, o.test, o.created_at,
         case when o.state = 'pending' and l.held is not true then o.due_at end as due_at, o.finished_at,
         o.sign_with_next, o.lease_until, a.outcome as last_outcome, a.http_status as last_http_status
    from (${deliveries}) o
    left join lateral (select held from webhook.lanes where receiver_id = o.receiver_id limit 1) l on true
    left join lateral (select outcome, http_status from webhook.attempts
                        where delivery_id = o.id and event_created_at = o.event_created_at
                        order by attempt desc, started_at desc, id desc limit 1) a on true`;

type StoredState = Exclude<DeliveryState, "held">;

const BRANCHES: Readonly<Record<StoredState, string>> = {
  pending: unfinished("pending"),
  sending: unfinished("sending"),
  delivered: finished("delivered"),
  failed: finished("failed"),
};

function unfinished(state: string): string {
  return `(select ${UNFINISHED} from webhook.deliveries d
            where d.receiver_id = $1 and d.state = '${state}' and d.id < $2 order by d.id desc limit $3)`;
}

function finished(state: string): string {
  return `(select ${FINISHED} from webhook.past_deliveries p
            where p.receiver_id = $1 and p.state = '${state}' and p.id < $2 order by p.id desc limit $3)`;
}

/**
 * Takes the newest of each state, then the newest of all: every branch reads at most one page along its index. One statement
 * sees each delivery in exactly one of its two tables, even while it moves.
 */
function pageStatement(states: readonly StoredState[]): Statement {
  const union = states.map((state) => BRANCHES[state]).join(" union all ");
  return {
    name: `deliveries.page_${states.join("_")}`,
    text: `${shown(`select * from (${union}) u order by u.id desc limit $3`)} order by o.id desc`,
  };
}

const statements = {
  insert: {
    name: "deliveries.insert",
    text: `insert into webhook.deliveries (id, receiver_id, event_id, event_created_at)
           select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])`,
  },
  insertTest: {
    name: "deliveries.insert_test",
    text: `insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, test, sign_with_next)
           values ($1, $2, $3, $4, true, $5)`,
  },
  find: {
    name: "deliveries.find",
    text: shown(`
      select ${UNFINISHED} from webhook.deliveries d join webhook.receivers r on r.id = d.receiver_id and r.brand_id = $1 where d.id = $2
      union all
      select ${FINISHED} from webhook.past_deliveries p where p.brand_id = $1 and p.id = $2`),
  },
  findBrand: {
    name: "deliveries.find_brand",
    text: `select r.brand_id from webhook.deliveries d join webhook.receivers r on r.id = d.receiver_id where d.id = $1
           union all
           select p.brand_id from webhook.past_deliveries p where p.id = $1`,
  },
  attempts: {
    name: "deliveries.attempts",
    text: `select a.id, a.attempt, a.started_at, a.duration_ms, a.outcome, a.http_status, a.error, coalesce(a.response, '') as response
             from webhook.attempts a where a.delivery_id = $1 order by a.attempt, a.started_at, a.id`,
  },
  /** Copies the event's time from the past delivery: it selects the partition. */
  repeat: {
    name: "deliveries.repeat",
    text: `insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, test, sign_with_next)
           select $1, p.receiver_id, p.event_id, p.event_created_at, p.test, p.sign_with_next from webhook.past_deliveries p where p.id = $2`,
  },
  hasten: {
    name: "deliveries.hasten",
    text: "update webhook.deliveries d set due_at = now() where d.id = $1 and d.state = 'pending'",
  },
} satisfies Record<string, Statement>;

export interface NewDelivery {
  readonly id: string;
  readonly receiver_id: string;
  readonly event_id: string;
  readonly event_created_at: string;
}

/** Adds deliveries, due now. Their lanes must be locked. */
export async function insertDeliveries(sql: Sql, deliveries: readonly NewDelivery[]): Promise<void> {
  await sql.query(statements.insert, [
    deliveries.map(({ id }) => id),
    deliveries.map(({ receiver_id }) => receiver_id),
    deliveries.map(({ event_id }) => event_id),
    deliveries.map(({ event_created_at }) => event_created_at),
  ]);
  await wakeLanes(sql, [...new Set(deliveries.map(({ receiver_id }) => receiver_id))]);
}

/** Adds a test delivery, due now. Its lane must be locked. */
export async function insertTestDelivery(
  sql: Sql,
  { id, receiver_id, event_id, event_created_at, sign_with_next }: NewDelivery & Pick<Delivery, "sign_with_next">,
): Promise<void> {
  await sql.query(statements.insertTest, [id, receiver_id, event_id, event_created_at, sign_with_next]);
  await wakeLanes(sql, [receiver_id]);
}

export interface DeliveriesPage {
  readonly receiverId: string;
  readonly state: DeliveryState | null;
  readonly afterId: string | null;
  readonly limit: number;
}

/** Returns deliveries, newest first, by id. `held` selects the pending ones: the caller knows whether the lane is held. */
export function pageOfDeliveries(sql: Sql, { receiverId, state, afterId, limit }: DeliveriesPage): Promise<Delivery[]> {
  const stored: StoredState | null = state === "held" ? "pending" : state;
  const statement = pageStatement(stored === null ? ["pending", "sending", "delivered", "failed"] : [stored]);
  return sql.query<Delivery>(statement, [receiverId, afterId ?? BEYOND, limit]);
}

export async function findDelivery(sql: Sql, { brandId, deliveryId }: DeliveryKey): Promise<Delivery | undefined> {
  const [row] = await sql.query<Delivery>(statements.find, [brandId, deliveryId]);
  return row;
}

/** For operators only: every other look-up names the brand. */
export async function findBrandOfDelivery(sql: Sql, deliveryId: string): Promise<string | undefined> {
  const [row] = await sql.query<{ brand_id: string }>(statements.findBrand, [deliveryId]);
  return row?.brand_id;
}

/** Returns the attempts of a delivery, oldest first. */
export function attemptsOf(sql: Sql, deliveryId: string): Promise<Attempt[]> {
  return sql.query<Attempt>(statements.attempts, [deliveryId]);
}

/** Adds a new delivery of a past delivery's event, due now. Its lane must be locked. */
export async function repeatDelivery(sql: Sql, id: string, { id: pastId, receiver_id }: Delivery): Promise<void> {
  await sql.query(statements.repeat, [id, pastId]);
  await wakeLanes(sql, [receiver_id]);
}

/** Makes a delivery due now if it is pending. Its lane must be locked. */
export async function hastenDelivery(sql: Sql, { id, receiver_id }: Delivery): Promise<void> {
  await sql.query(statements.hasten, [id]);
  await wakeLanes(sql, [receiver_id]);
}
