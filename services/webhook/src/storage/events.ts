import { unnestRows, type BatchRow, type Sql, type Statement, firstOf, isFound, statementsOf } from "@brand-records/postgres";
import type { EventFilter, EventKey, EventPosition, FoundEvent, ReceiverCounts, StoredEvent } from "../domain/event.ts";
import { UNLEASED } from "./delivery-columns.ts";

const COLUMNS = "e.id, e.brand_id, e.type, e.created_at, e.data::text as data_json, e.received_at, e.test";

const NEW_EVENTS = unnestRows({
  id: "text",
  created_at: "timestamptz",
  brand_id: "text",
  type: "text",
  data: "json",
  traceparent: "text null",
});

export type NewEvent = BatchRow<typeof NEW_EVENTS>;

/** Statuses may go back and forth; usually a record has one or two events. */
const OF_RECORD_MAX = 1_000;

const statements = statementsOf("events", {
  // In one order, as two members may store the same events while partitions move: the second waits for the first's, and never crosswise.
  insert: `insert into webhook.events (${NEW_EVENTS.columns}) select * from ${NEW_EVENTS.relation} order by id
           on conflict (id, created_at) do nothing returning id`,
  insertTest: "insert into webhook.events (id, created_at, brand_id, type, data, test) values ($1, $2, $3, $4, $5::json, true)",
  exists: "select from webhook.events e where e.brand_id = $1 and e.id = $2",
  find: `select ${COLUMNS}, e.traceparent from webhook.events e where e.brand_id = $1 and e.id = $2`,
  ofRecord: `select e.created_at, e.id from webhook.events e where e.brand_id = $1 and e.data ->> 'id' = $2 and not e.test
            order by e.created_at desc, e.id desc limit ${OF_RECORD_MAX}`,
  positionOf: "select e.created_at, e.id from webhook.events e where e.brand_id = $1 and e.id = $2 and not e.test",
});

/** Stores events. Their daily partitions must exist. @returns the ids of those that were not stored before */
export async function insertEvents(sql: Sql, events: readonly NewEvent[]): Promise<Set<string>> {
  const rows = await sql.query<{ id: string }>(statements.insert, NEW_EVENTS.values(events));
  return new Set(rows.map(({ id }) => id));
}

/** Stores the event of a test delivery. Its daily partition must exist. */
export const insertTestEvent = (sql: Sql, { id, created_at, brand_id, type, data }: Omit<NewEvent, "traceparent">): Promise<unknown> =>
  sql.query(statements.insertTest, [id, created_at, brand_id, type, data]);

export interface EventsPage extends EventFilter {
  readonly after: EventPosition | null;
  readonly limit: number;
}

/** One statement for each combination of filters, so that each walks straight along an index. */
function pageStatement(
  brandId: string,
  { type, recordId, from, to, after, limit }: EventsPage,
): { statement: Statement; values: unknown[] } {
  const values: unknown[] = [brandId, limit];
  const value = (of: unknown, cast: string): string => `$${values.push(of)}::${cast}`;
  const filters: Record<string, string | null> = {
    type: type && `e.type = ${value(type, "text")}`,
    record: recordId && `e.data ->> 'id' = ${value(recordId, "text")}`,
    from: from && `e.created_at >= ${value(from, "timestamptz")}`,
    to: to && `e.created_at < ${value(to, "timestamptz")}`,
    after: after && afterPosition(value(after.created_at, "timestamptz"), value(after.id, "text")),
  };
  const used = Object.entries(filters).filter(([, filter]) => filter !== null);
  return {
    statement: {
      name: ["events.page", ...used.map(([name]) => name)].join("_"),
      text: `select ${COLUMNS} from webhook.events e
              where ${["e.brand_id = $1 and not e.test", ...used.map(([, filter]) => filter)].join(" and ")}
              order by e.created_at desc, e.id desc limit $2::int`,
    },
    values,
  };
}

/** The bound on created_at alone prunes partitions; the bound on both columns does not. */
const afterPosition = (createdAt: string, id: string): string =>
  `(e.created_at, e.id) < (${createdAt}, ${id}) and e.created_at <= ${createdAt}`;

/** Returns the brand's events, newest first, without test events. */
export function pageOfEvents(sql: Sql, brandId: string, page: EventsPage): Promise<StoredEvent[]> {
  const { statement, values } = pageStatement(brandId, page);
  return sql.query<StoredEvent>(statement, values);
}

/** Returns where the 1,000 newest events of a record are, without those of tests. */
export function eventsOfRecord(
  sql: Sql,
  { brandId, recordId }: { readonly brandId: string; readonly recordId: string },
): Promise<EventPosition[]> {
  return sql.query<EventPosition>(statements.ofRecord, [brandId, recordId]);
}

/** Returns an event, also that of a test. */
export const findEvent = (sql: Sql, { brandId, eventId }: EventKey): Promise<FoundEvent | undefined> =>
  firstOf(sql.query<FoundEvent>(statements.find, [brandId, eventId]));

/** Returns where an event is in its brand's list; undefined if it is not in it. */
export const positionOfEvent = (sql: Sql, { brandId, eventId }: EventKey): Promise<EventPosition | undefined> =>
  firstOf(sql.query<EventPosition>(statements.positionOf, [brandId, eventId]));

/** Whether the brand has this event, also one of a test, and it is still stored. */
export const isEventStored = (sql: Sql, { brandId, eventId }: EventKey): Promise<boolean> =>
  isFound(sql.query(statements.exists, [brandId, eventId]));

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
