import type { EventType } from "@brand-records/brand-events";
import type { Sql, Statement } from "@brand-records/postgres";

export interface NewEvent {
  readonly id: string;
  readonly created_at: string;
  readonly brand_id: string;
  readonly type: string;
  readonly data: string;
  readonly traceparent: string | null;
}

export interface StoredEvent {
  readonly id: string;
  readonly brand_id: string;
  readonly type: string;
  readonly created_at: string;
  /** Byte for byte what receivers get. */
  readonly data_json: string;
  readonly received_at: string;
}

const statements = {
  insert: {
    name: "events.insert",
    text: `insert into webhook.events (id, created_at, brand_id, type, data, traceparent)
           select * from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::json[], $6::text[])
           on conflict (id, created_at) do nothing returning id`,
  },
  insertTest: {
    name: "events.insert_test",
    text: "insert into webhook.events (id, created_at, brand_id, type, data, test) values ($1, $2, $3, $4, $5::json, true)",
  },
  exists: {
    name: "events.exists",
    text: "select from webhook.events e where e.brand_id = $1 and e.id = $2 and ($3 or not e.test)",
  },
} satisfies Record<string, Statement>;

/**
 * Stores events. Their daily partitions must exist.
 *
 * @returns the ids of those that were not stored before
 */
export async function insertEvents(sql: Sql, events: readonly NewEvent[]): Promise<Set<string>> {
  const rows = await sql.query<{ id: string }>(statements.insert, [
    events.map(({ id }) => id),
    events.map(({ created_at }) => created_at),
    events.map(({ brand_id }) => brand_id),
    events.map(({ type }) => type),
    events.map(({ data }) => data),
    events.map(({ traceparent }) => traceparent),
  ]);
  return new Set(rows.map(({ id }) => id));
}

/** Stores the event of a test delivery. Its daily partition must exist. */
export async function insertTestEvent(sql: Sql, { id, created_at, brand_id, type, data }: Omit<NewEvent, "traceparent">): Promise<void> {
  await sql.query(statements.insertTest, [id, created_at, brand_id, type, data]);
}

/** One statement for each combination of filters, so that each walks straight along an index. */
function pageStatement(ofType: boolean, after: boolean): Statement {
  const type = ofType ? "and e.type = $3" : "and $3::text is null";
  const position = "(select a.created_at, a.id from webhook.events a where a.brand_id = $1 and a.id = $4 and not a.test limit 1)";
  const from = after ? `and (e.created_at, e.id) < ${position}` : "and $4::text is null";
  return {
    name: `events.page${ofType ? "_of_type" : ""}${after ? "_after" : ""}`,
    text: `select e.id, e.brand_id, e.type, e.created_at, e.data::text as data_json, e.received_at from webhook.events e
            where e.brand_id = $1 and not e.test ${type} ${from} order by e.created_at desc, e.id desc limit $2`,
  };
}

/** Returns the brand's events, newest first, without test events. */
export function pageOfEvents(
  sql: Sql,
  brandId: string,
  { type, afterId, limit }: { readonly type: EventType | null; readonly afterId: string | null; readonly limit: number },
): Promise<StoredEvent[]> {
  return sql.query<StoredEvent>(pageStatement(type !== null, afterId !== null), [brandId, limit, type, afterId]);
}

/** Whether the brand has this event, and it is still stored. */
export async function isEventStored(sql: Sql, brandId: string, id: string, { tests }: { readonly tests: boolean }): Promise<boolean> {
  return (await sql.query(statements.exists, [brandId, id, tests])).length > 0;
}
