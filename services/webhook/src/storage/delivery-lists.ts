import type { Sql, Statement } from "@brand-records/postgres";
import { newId } from "@brand-records/typeid";
import type { Delivery, DeliveryState } from "../domain/delivery.ts";
import type { OutcomeKind } from "../domain/outcome.ts";
import { UNLEASED } from "./late-indexes.ts";

/** Sorts after every delivery id. */
const BEYOND = "dlv_~";
/** Ids are made by the clocks of processes, created_at by the database's. Between them, no more than this is expected. */
const CLOCKS_APART_MS = 3_600_000;

/** Columns of `webhook.deliveries d`, and the same of `webhook.past_deliveries d`. */
export const UNFINISHED = `d.id, d.receiver_id, d.event_id, d.event_created_at, d.event_type, d.state, d.attempt as attempts, d.test, d.created_at,
  d.due_at, null::timestamptz as finished_at, d.lease_until, d.sign_with_next, d.repeat_of,
  null as attempt_id, null::timestamptz as started_at, null as outcome, null::int as http_status`;
export const FINISHED = `d.id, d.receiver_id, d.event_id, d.event_created_at, d.event_type, d.state, d.attempts, d.test, d.created_at,
  null::timestamptz as due_at, d.finished_at, null::timestamptz as lease_until, d.sign_with_next, d.repeat_of,
  d.attempt_id, d.started_at, d.outcome, d.http_status`;

/** SQL of the type of a delivery's event, where a process of release 0.2.0 did not store it with the delivery. */
const typeOfEvent = (delivery: string): string =>
  `(select e.type from webhook.events e where e.id = ${delivery}.event_id and e.created_at = ${delivery}.event_created_at)`;

const LEASE_ENDED: OutcomeKind = "unknown";

/**
 * SQL of the last attempt of a delivery `o`, if it is in webhook.attempts: the delivery is unfinished, a process of release 0.3.0 finished
 * it, or a result came after the lease of its last attempt had ended. Every other delivery has its last attempt: nothing is looked up, as
 * the first condition is on the delivery alone.
 */
const LAST_ATTEMPT_APART = `
  select a.outcome, a.http_status from webhook.attempts a
   where (o.outcome is null or o.outcome = '${LEASE_ENDED}')
     and (o.outcome is null or (a.attempt, a.started_at, a.id) > (o.attempts, o.started_at, o.attempt_id))
     and a.delivery_id = o.id and a.event_created_at = o.event_created_at
   order by a.attempt desc, a.started_at desc, a.id desc limit 1`;

/**
 * Deliveries as members see them: pending ones are shown as held if their lane is held. Event types and last attempts are
 * looked up one by one: a join read every event.
 */
export const shown = (deliveries: string): string => `
  select o.id, o.receiver_id, o.event_id, coalesce(o.event_type, ${typeOfEvent("o")}, '') as event_type,
         case when o.state = 'pending' and l.held then 'held' else o.state end as state, o.attempts, o.test, o.created_at,
         case when o.state = 'pending' and l.held is not true then o.due_at end as due_at, o.finished_at,
         o.sign_with_next, o.repeat_of, o.lease_until, coalesce(a.outcome, o.outcome) as last_outcome,
         case when a.outcome is null then o.http_status else a.http_status end as last_http_status
    from (${deliveries}) o
    left join lateral (select held from webhook.lanes where receiver_id = o.receiver_id limit 1) l on true
    left join lateral (${LAST_ATTEMPT_APART}) a on true`;

type StoredState = Exclude<DeliveryState, "held">;

export interface DeliveryFilter {
  readonly brandId: string;
  /** Null for all receivers of the brand; then there is an event. */
  readonly receiverId: string | null;
  readonly event: { readonly id: string; readonly created_at: string } | null;
  readonly states: readonly DeliveryState[];
  readonly type: string | null;
  /** RFC 3339: created at this time or later. */
  readonly from: string | null;
  /** RFC 3339: created before this time. */
  readonly to: string | null;
}

export interface DeliveriesPage extends DeliveryFilter {
  readonly afterId: string | null;
  readonly limit: number;
}

/** SQL conditions on `d`, a row of either table. */
interface Conditions {
  readonly common: readonly string[];
  /** A value of the filter on types. */
  readonly type: string | undefined;
  /** The brand's id, if receivers do not imply it. */
  readonly brand: string | undefined;
  /** Whether the lane of unsent deliveries is held, if that matters. */
  readonly held: string | undefined;
  readonly limit: string;
}

const BRANCHES: Readonly<Record<StoredState, (conditions: Conditions) => string[]>> = {
  pending: (conditions) => unfinished("pending", { ...conditions, common: [...conditions.common, `d.${UNLEASED}`] }, conditions.held),
  sending: (conditions) => unfinished("sending", conditions),
  delivered: (conditions) => finished("delivered", conditions),
  failed: (conditions) => finished("failed", conditions),
};

function unfinished(state: string, conditions: Conditions, held?: string): string[] {
  const { brand } = conditions;
  const brandCondition =
    brand === undefined ? [] : [`exists (select from webhook.receivers r where r.id = d.receiver_id and r.brand_id = ${brand})`];
  const more = [...brandCondition, ...(held === undefined ? [] : [held])];
  return branches(`${UNFINISHED} from webhook.deliveries d`, state, conditions, more);
}

function finished(state: string, conditions: Conditions): string[] {
  const { brand } = conditions;
  const brandCondition = brand === undefined ? [] : [`d.brand_id = ${brand}`];
  return branches(`${FINISHED} from webhook.past_deliveries d`, state, conditions, brandCondition);
}

/** Deliveries without a stored type are a branch of their own if one is asked for: a condition on both would use no index. */
function branches(columns: string, state: string, { common, type, limit }: Conditions, more: readonly string[]): string[] {
  const ofTypes = type === undefined ? [[]] : [[`d.event_type = ${type}`], [`d.event_type is null and ${typeOfEvent("d")} = ${type}`]];
  return ofTypes.map(
    (ofType) =>
      `(select ${columns} where d.state = '${state}' and ${[...common, ...ofType, ...more].join(" and ")} order by d.id desc limit ${limit})`,
  );
}

/**
 * Takes the newest of each state, then the newest of all: every branch reads at most one page along its index. One statement
 * sees each delivery in exactly one of its two tables, even while it moves.
 */
function pageStatement(page: DeliveriesPage): { readonly statement: Statement | string; readonly values: unknown[] } {
  const { states, receiverId, event, type, from, to, brandId } = page;
  const values: unknown[] = [];
  const value = (of: unknown, cast: string): string => `$${values.push(of)}::${cast}`;
  const { before, least } = idBounds(page);
  const common = [`d.id < ${value(before, "text")}`];
  const receiver = receiverId === null ? "d.receiver_id" : value(receiverId, "text");
  if (receiverId !== null) common.push(`d.receiver_id = ${receiver}`);
  if (event !== null)
    common.push(`d.event_id = ${value(event.id, "text")} and d.event_created_at = ${value(event.created_at, "timestamptz")}`);
  if (least !== null) common.push(`d.id >= ${value(least, "text")}`);
  if (from !== null) common.push(`d.created_at >= ${value(from, "timestamptz")}`);
  if (to !== null) common.push(`d.created_at < ${value(to, "timestamptz")}`);
  const conditions: Conditions = {
    common,
    type: type === null ? undefined : value(type, "text"),
    brand: receiverId === null ? value(brandId, "text") : undefined,
    held: heldCondition(states, receiver),
    limit: value(page.limit, "int"),
  };
  const stored = [...new Set(states.map((state) => (state === "held" ? "pending" : state)))];
  const union = stored.flatMap((state) => BRANCHES[state](conditions)).join(" union all ");
  const text = `${shown(`select * from (${union}) u order by u.id desc limit ${conditions.limit}`)} order by o.id desc`;
  // The usual lists are prepared. The others have hundreds of forms, and every prepared plan names every partition.
  const isUsual = receiverId !== null && event === null && type === null && from === null && to === null;
  return { statement: isUsual ? { name: `deliveries.page_${states.toSorted().join("_")}`, text } : text, values };
}

/** Lets Postgres, with a receiver's id, look at the lane once, and reads no deliveries if they are not wanted. */
function heldCondition(states: readonly DeliveryState[], receiver: string): string | undefined {
  const held = states.includes("held");
  if (held === states.includes("pending")) return undefined;
  return `(select l.held from webhook.lanes l where l.receiver_id = ${receiver}) is ${held ? "" : "not "}true`;
}

/** Bounds on ids, which begin with their time, so that a time far back is found along the index. */
function idBounds({ afterId, from, to }: DeliveriesPage): { readonly before: string; readonly least: string | null } {
  const idAt = (time: string, apartMs: number): string => newId("dlv", Math.max(0, Date.parse(time) + apartMs), new Uint8Array(10));
  const after = afterId ?? BEYOND;
  const end = to === null ? BEYOND : idAt(to, CLOCKS_APART_MS);
  return { before: after < end ? after : end, least: from === null ? null : idAt(from, -CLOCKS_APART_MS) };
}

/** Returns deliveries, newest first, by id. */
export async function pageOfDeliveries(sql: Sql, page: DeliveriesPage): Promise<Delivery[]> {
  if (page.states.length === 0) return [];
  const { statement, values } = pageStatement(page);
  return sql.query<Delivery>(statement, values);
}
