import { unnestRows, type Sql, type Statement } from "@brand-records/postgres";
import { nextAfterId } from "@brand-records/service-runtime";
import { newId } from "@brand-records/ids";
import { PAGE_LIMIT, type Delivery, type DeliveryState, type StatusClass } from "../domain/delivery.ts";
import type { EventPosition } from "../domain/event.ts";
import { FINISHED, LAST_ATTEMPT_APART, shown, UNFINISHED, UNLEASED } from "./delivery-columns.ts";

/** Sorts after every delivery id. */
const BEYOND = "dlv_~";
/** Ids are made by the clocks of processes, created_at by the database's. Between them, no more than this is expected. */
const CLOCKS_APART_MS = 3_600_000;
/** Deliveries of which a page of a class of statuses is selected: no index has them. 20 ms if each is looked up among the attempts. */
const EXAMINED_MAX = 2_000;

type StoredState = Exclude<DeliveryState, "held">;

export interface DeliveriesPage {
  readonly brandId: string;
  /** Null for all receivers of the brand; then there are events. */
  readonly receiverId: string | null;
  /** Null for all events of the receiver. */
  readonly events: readonly EventPosition[] | null;
  readonly states: readonly DeliveryState[];
  readonly type: string | null;
  /** RFC 3339: created at this time or later. */
  readonly from: string | null;
  /** RFC 3339: created before this time. */
  readonly to: string | null;
  readonly statusClass: StatusClass | null;
  readonly afterId: string | null;
  readonly limit: number;
}

/** SQL conditions on `d`, a row of either table. */
interface Conditions {
  readonly common: readonly string[];
  /** The brand's id, if receivers do not imply it. */
  readonly brand: string | undefined;
  /** A join with the events, or none if a condition names the only one. Undefined for all events of the receiver. */
  readonly events: { readonly join: string } | undefined;
  /** Whether the lane of unsent deliveries is held, if that matters. */
  readonly held: string | undefined;
  readonly limit: string;
}

/** The newest deliveries in a state. Members see pending ones that have no lease. */
function branch(state: StoredState, { common, brand, events, held, limit }: Conditions): string {
  const isPast = state === "delivered" || state === "failed";
  const [columns, order] = isPast
    ? [`${FINISHED} from webhook.past_deliveries d`, "d.state, d.id desc"]
    : [`${UNFINISHED} from webhook.deliveries d`, "d.id desc"];
  const all = [isPast ? inState(state) : `d.state = '${state}'`];
  if (brand !== undefined) {
    all.push(
      isPast ? `d.brand_id = ${brand}` : `exists (select from webhook.receivers r where r.id = d.receiver_id and r.brand_id = ${brand})`,
    );
  }
  if (state === "pending" && held !== undefined) all.push(held);
  all.push(...common);
  if (state === "pending") all.push(`d.${UNLEASED}`);
  const where = `where ${all.join(" and ")}`;
  if (events === undefined) return `(select ${columns} ${where} order by ${order} limit ${limit})`;
  // Beyond the fence the planner cannot walk all deliveries in search of the few of these events.
  return `(select d.* from (select ${columns} ${events.join} ${where} offset 0) d order by d.id desc limit ${limit})`;
}

/**
 * SQL condition on a past delivery's state. A range of one state: by an equality the planner knows that the order of ids is that of the list, and
 * walks the primary key, past all deliveries of all receivers, if it expects enough of this one's in this state. It multiplies the
 * frequencies of receiver and state: for what a receiver has accepted that refuses everything it read every delivery of seven days.
 */
const inState = (state: string): string => `d.state >= '${state}' and d.state <= '${state}'`;

/**
 * Takes the newest of each state, then the newest of all: every branch reads at most one page along its index. One statement
 * sees each delivery in exactly one of its two tables, even while it moves.
 */
function pageStatement(page: DeliveriesPage): { readonly statement: Statement | string; readonly values: unknown[] } {
  const { states, receiverId, events, type, from, to, brandId, statusClass } = page;
  const values: unknown[] = [];
  const value = (of: unknown, cast: string): string => `$${values.push(of)}::${cast}`;
  const { before, least } = idBounds(page);
  const common = [`d.id < ${value(before, "text")}`];
  const receiver = receiverId === null ? "d.receiver_id" : value(receiverId, "text");
  if (receiverId !== null) common.push(`d.receiver_id = ${receiver}`);
  const [event, ...others] = events ?? [];
  const isOfOne = event !== undefined && others.length === 0;
  if (isOfOne) common.push(`d.event_id = ${value(event.id, "text")} and d.event_created_at = ${value(event.created_at, "timestamptz")}`);
  if (least !== null) common.push(`d.id >= ${value(least, "text")}`);
  if (from !== null) common.push(`d.created_at >= ${value(from, "timestamptz")}`);
  if (to !== null) common.push(`d.created_at < ${value(to, "timestamptz")}`);
  if (type !== null) common.push(`d.event_type = ${value(type, "text")}`);
  // In the text: of a parameter Postgres expects a tenth of all rows. It then never keeps the plan, and plans each call, which takes four
  // times as long as the rest.
  const limit = String(page.limit);
  const conditions: Conditions = {
    common,
    brand: receiverId === null ? value(brandId, "text") : undefined,
    events: events === null ? undefined : { join: isOfOne ? "" : joinWith(events, values) },
    held: heldCondition(states, receiver),
    limit: statusClass === null ? limit : String(EXAMINED_MAX),
  };
  const stored = [...new Set(states.map((state) => (state === "held" ? "pending" : state)))];
  const union = stored.map((state) => branch(state, conditions)).join(" union all ");
  const newest = `select * from (${union}) u order by u.id desc limit ${conditions.limit}`;
  if (statusClass !== null) return { statement: ofStatusClass(newest, statusClass, limit), values };
  const text = `${shown(newest)} order by o.id desc`;
  // The usual lists are prepared. The others have hundreds of forms, and every prepared plan names every partition.
  const isUsual = receiverId !== null && events === null && type === null && from === null && to === null && page.limit === PAGE_LIMIT;
  return { statement: isUsual ? { name: `deliveries.page_${states.toSorted().join("_")}`, text } : text, values };
}

/** @param values of the statement so far; those of the events are added */
function joinWith(events: readonly EventPosition[], values: unknown[]): string {
  const positions = unnestRows({ id: "text", created_at: "timestamptz" }, { as: "e", after: values.length });
  values.push(...positions.values(events));
  return `join ${positions.relation} on d.event_id = e.id and d.event_created_at = e.created_at`;
}

const HAS_STATUS = ({ outcome, status }: { readonly outcome: string; readonly status: string }): Record<StatusClass, string> => ({
  "2xx": `${status} between 200 and 299`,
  "3xx": `${status} between 300 and 399`,
  "4xx": `${status} between 400 and 499`,
  "5xx": `${status} between 500 and 599`,
  none: `${outcome} is not null and ${status} is null`,
});

/** The page, beside each delivery, and alone if there is none, how many were examined and the last of these. */
function ofStatusClass(newest: string, statusClass: StatusClass, limit: string): string {
  const status = "case when a.outcome is null then o.http_status else a.http_status end";
  const isOfClass = HAS_STATUS({ outcome: "coalesce(a.outcome, o.outcome)", status })[statusClass];
  const matching = `
    select o.* from examined o left join lateral (select * from (${LAST_ATTEMPT_APART}) a where o.attempts > 0) a on true
     where ${isOfClass} order by o.id desc limit ${limit}`;
  return `
    with examined as materialized (${newest})
    select m.*, x.examined, x.examined_to from (select count(*)::int as examined, min(id) as examined_to from examined) x
      left join (${shown(matching)}) m on true order by m.id desc`;
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

export interface PageOfDeliveries {
  readonly deliveries: Delivery[];
  /** The id to continue after; null on the last page. */
  readonly next: string | null;
}

/**
 * Returns deliveries, newest first, by id. A page of a class of statuses is selected from the next 2,000 deliveries, so that it may be short
 * before the last.
 */
export async function pageOfDeliveries(sql: Sql, page: DeliveriesPage): Promise<PageOfDeliveries> {
  if (page.states.length === 0 || page.events?.length === 0) return { deliveries: [], next: null };
  const { statement, values } = pageStatement(page);
  if (page.statusClass === null) {
    const deliveries = await sql.query<Delivery>(statement, values);
    return { deliveries, next: nextAfterId(deliveries, page.limit) };
  }
  const rows = await sql.query<Examined & (Delivery | { readonly id: null })>(statement, values);
  const deliveries = rows.flatMap(({ examined: _examined, examined_to: _to, ...row }) => (row.id === null ? [] : [row]));
  const { examined, examined_to } = rows[0] as Examined;
  return { deliveries, next: nextAfterId(deliveries, page.limit) ?? (examined === EXAMINED_MAX ? examined_to : null) };
}

interface Examined {
  readonly examined: number;
  readonly examined_to: string | null;
}
