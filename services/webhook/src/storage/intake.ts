import type { Database, Sql, Statement } from "@brand-records/postgres";

export interface NewEvent {
  readonly id: string;
  readonly created_at: string;
  readonly brand_id: string;
  readonly type: string;
  readonly data: string;
  readonly traceparent: string | null;
}

export interface NewDelivery {
  readonly id: string;
  readonly receiver_id: string;
  readonly event_id: string;
  readonly event_created_at: string;
}

export interface Selection {
  readonly id: string;
  readonly brand_id: string;
  readonly events: readonly string[];
}

const statements = {
  lockLanes: {
    name: "intake.lock_lanes",
    text: `select l.receiver_id from webhook.receivers r join webhook.lanes l on l.receiver_id = r.id
            where r.brand_id = any($1::text[]) and r.events && $2::text[]
            order by l.receiver_id for update of l`,
  },
  selections: {
    name: "intake.selections",
    text: "select id, brand_id, events from webhook.receivers where id = any($1::text[]) order by id",
  },
  insertEvents: {
    name: "intake.insert_events",
    text: `insert into webhook.events (id, created_at, brand_id, type, data, traceparent)
           select * from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::json[], $6::text[])
           on conflict (id, created_at) do nothing returning id`,
  },
  insertDeliveries: {
    name: "intake.insert_deliveries",
    text: `insert into webhook.deliveries (id, receiver_id, event_id, event_created_at)
           select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])`,
  },
  wakeLanes: {
    name: "intake.wake_lanes",
    text: "update webhook.lanes set next_due = now() where receiver_id = any($1::text[]) and next_due > now()",
  },
  /** Once per transaction, whatever its size; told when it commits. */
  tellSenders: { name: "intake.tell_senders", text: "select pg_notify('webhook_deliveries', '')" },
} satisfies Record<string, Statement>;

/** Makes the partitions of these days (YYYY-MM-DD, UTC). Not within a transaction: the new table is locked until it ends. */
export async function ensureDays(db: Database, days: readonly string[]): Promise<void> {
  for (const day of days) await db.query("select webhook.ensure_day($1::date)", [day]);
}

/** Locks the lanes of every receiver of these brands that selects one of these types, in the order all lanes are locked in. */
export async function lockLanes(sql: Sql, brandIds: readonly string[], types: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ receiver_id: string }>(statements.lockLanes, [brandIds, types]);
  return rows.map(({ receiver_id }) => receiver_id);
}

/** What these receivers select now, under a snapshot that is taken after their lanes were locked. */
export function selectionsOf(sql: Sql, receiverIds: readonly string[]): Promise<Selection[]> {
  return sql.query<Selection>(statements.selections, [receiverIds]);
}

/** Answers the ids of those that were not there yet. */
export async function insertEvents(sql: Sql, events: readonly NewEvent[]): Promise<Set<string>> {
  const rows = await sql.query<{ id: string }>(statements.insertEvents, [
    events.map(({ id }) => id),
    events.map(({ created_at }) => created_at),
    events.map(({ brand_id }) => brand_id),
    events.map(({ type }) => type),
    events.map(({ data }) => data),
    events.map(({ traceparent }) => traceparent),
  ]);
  return new Set(rows.map(({ id }) => id));
}

/** They are due at once. Their lanes must be locked. */
export async function insertDeliveries(sql: Sql, deliveries: readonly NewDelivery[]): Promise<void> {
  await sql.query(statements.insertDeliveries, [
    deliveries.map(({ id }) => id),
    deliveries.map(({ receiver_id }) => receiver_id),
    deliveries.map(({ event_id }) => event_id),
    deliveries.map(({ event_created_at }) => event_created_at),
  ]);
  await wakeLanes(sql, [...new Set(deliveries.map(({ receiver_id }) => receiver_id))]);
}

/** Something of theirs is due at once: they are served next, by whoever hears of it first. They must be locked. */
export async function wakeLanes(sql: Sql, receiverIds: readonly string[]): Promise<void> {
  await sql.query(statements.wakeLanes, [receiverIds]);
  await sql.query(statements.tellSenders);
}
