import type { Sql, Statement } from "@brand-records/postgres";
import type { Attempt, Delivery, DeliveryKey, DeliveryState } from "../domain/delivery.ts";
import type { ReceiverKey } from "../domain/receiver.ts";
import { wakeLanes } from "./intake.ts";

/** After every id there may be. */
const BEYOND = "dlv_~";

const UNDER_WAY = `d.id, d.receiver_id, d.event_id, d.event_created_at, d.state, d.attempt as attempts, d.test, d.created_at,
  d.due_at, null::timestamptz as finished_at`;
const OVER = `p.id, p.receiver_id, p.event_id, p.event_created_at, p.state, p.attempts, p.test, p.created_at,
  null::timestamptz as due_at, p.finished_at`;

/** With what people see of them: what is pending at a held lane is held. Looked up one by one: a join read all events there are. */
const shown = (deliveries: string): string => `
  select o.id, o.receiver_id, o.event_id,
         coalesce((select e.type from webhook.events e where e.id = o.event_id and e.created_at = o.event_created_at), '') as event_type,
         case when o.state = 'pending' and l.held then 'held' else o.state end as state, o.attempts, o.test, o.created_at,
         case when o.state = 'pending' and l.held is not true then o.due_at end as due_at, o.finished_at
    from (${deliveries}) o
    left join lateral (select held from webhook.lanes where receiver_id = o.receiver_id limit 1) l on true`;

type StoredState = Exclude<DeliveryState, "held">;

const BRANCHES: Readonly<Record<StoredState, string>> = {
  pending: underWay("pending"),
  sending: underWay("sending"),
  delivered: over("delivered"),
  failed: over("failed"),
};

function underWay(state: string): string {
  return `(select ${UNDER_WAY} from webhook.deliveries d
            where d.receiver_id = $1 and d.state = '${state}' and d.id < $2 order by d.id desc limit $3)`;
}

function over(state: string): string {
  return `(select ${OVER} from webhook.past_deliveries p
            where p.receiver_id = $1 and p.state = '${state}' and p.id < $2 order by p.id desc limit $3)`;
}

/**
 * Each state on its own, the newest of each, then the newest of all: every branch reads so many rows along its index,
 * whatever the others have. One statement sees a delivery in one of its two tables, also while it moves.
 */
function pageStatement(states: readonly StoredState[]): Statement {
  const union = states.map((state) => BRANCHES[state]).join(" union all ");
  return {
    name: `deliveries.page_${states.join("_")}`,
    text: `${shown(`select * from (${union}) u order by u.id desc limit $3`)} order by o.id desc`,
  };
}

const statements = {
  isHeld: {
    name: "deliveries.is_held",
    text: `select l.held from webhook.receivers r join webhook.lanes l on l.receiver_id = r.id where r.brand_id = $1 and r.id = $2`,
  },
  find: {
    name: "deliveries.find",
    text: shown(`
      select ${UNDER_WAY} from webhook.deliveries d join webhook.receivers r on r.id = d.receiver_id and r.brand_id = $1 where d.id = $2
      union all
      select ${OVER} from webhook.past_deliveries p where p.brand_id = $1 and p.id = $2`),
  },
  attempts: {
    name: "deliveries.attempts",
    text: `select a.id, a.attempt, a.started_at, a.duration_ms, a.outcome, a.http_status, a.error, coalesce(a.response, '') as response
             from webhook.attempts a where a.delivery_id = $1 order by a.attempt, a.started_at, a.id`,
  },
  hasEvent: {
    name: "deliveries.has_event",
    text: "select from webhook.events e where e.id = $1 and e.brand_id = $2",
  },
  /** The event's time with it, from where it stands: partitions are chosen by that. */
  repeat: {
    name: "deliveries.repeat",
    text: `insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, test)
           select $1, p.receiver_id, p.event_id, p.event_created_at, p.test from webhook.past_deliveries p where p.id = $2`,
  },
  hasten: {
    name: "deliveries.hasten",
    text: "update webhook.deliveries d set due_at = now() where d.id = $1 and d.state = 'pending'",
  },
} satisfies Record<string, Statement>;

/** Whether what is pending at the receiver is held; undefined if the brand has no such receiver. */
export async function isHeld(sql: Sql, { brandId, receiverId }: ReceiverKey): Promise<boolean | undefined> {
  const [row] = await sql.query<{ held: boolean }>(statements.isHeld, [brandId, receiverId]);
  return row?.held;
}

export interface DeliveriesWanted {
  readonly receiverId: string;
  readonly state: DeliveryState | null;
  readonly afterId: string | null;
  readonly limit: number;
}

/** Newest first, by id. Asked for what is held, it answers what is pending: whether that is held is for the caller to know. */
export function pageOfDeliveries(sql: Sql, { receiverId, state, afterId, limit }: DeliveriesWanted): Promise<Delivery[]> {
  const stored: StoredState | null = state === "held" ? "pending" : state;
  const statement = pageStatement(stored === null ? ["pending", "sending", "delivered", "failed"] : [stored]);
  return sql.query<Delivery>(statement, [receiverId, afterId ?? BEYOND, limit]);
}

export async function findDelivery(sql: Sql, { brandId, deliveryId }: DeliveryKey): Promise<Delivery | undefined> {
  const [row] = await sql.query<Delivery>(statements.find, [brandId, deliveryId]);
  return row;
}

/** Oldest first. */
export function attemptsOf(sql: Sql, deliveryId: string): Promise<Attempt[]> {
  return sql.query<Attempt>(statements.attempts, [deliveryId]);
}

export async function isEventKept(sql: Sql, brandId: string, eventId: string): Promise<boolean> {
  return (await sql.query(statements.hasEvent, [eventId, brandId])).length > 0;
}

/** A new delivery of the event of one that is over, due at once. Its lane must be locked. */
export async function repeatDelivery(sql: Sql, id: string, { id: pastId, receiver_id }: Delivery): Promise<void> {
  await sql.query(statements.repeat, [id, pastId]);
  await wakeLanes(sql, [receiver_id]);
}

/** Due at once, if it is pending. Its lane must be locked. */
export async function hastenDelivery(sql: Sql, { id, receiver_id }: Delivery): Promise<void> {
  await sql.query(statements.hasten, [id]);
  await wakeLanes(sql, [receiver_id]);
}
