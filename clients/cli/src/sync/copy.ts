import {
  mergeEvent,
  RESOURCES,
  type BrandEvent,
  type FinishedWalk,
  type Merged,
  type RecordOf,
  type ResourceName,
  type SyncPage,
  type SyncState,
  type SyncStore,
  type UnknownEvent,
} from "@brand-records/client";
import { CommandFailure } from "@brand-records/command-line";
import type { CopyDatabase, Query } from "./copy-database.ts";
import { LAST_WALK, layoutStatements } from "./layout.ts";

/** Milliseconds before a page's request from which events are merged again: the clock may have been set back. An event that is not newer changes nothing. */
const CLOCK_MARGIN_MS = 5 * 60_000;

export type EventOutcome = Extract<Merged, { isChanged: false }>["reason"] | "changed" | "not_in_copy";

/** Records of a resource in the copy: all, those that the last walk has listed, and those that the last finished one has not. */
export type ResourceCount = { readonly resource: ResourceName } & { readonly [Name in "records" | "listed" | "vanished"]: number };

/** A copy of one brand's records in a database, by the rules of docs/syncing.md. */
export class Copy implements SyncStore {
  readonly #db: CopyDatabase;

  private constructor(db: CopyDatabase) {
    this.#db = db;
  }

  get name(): string {
    return this.#db.name;
  }

  /** Makes the tables if they are missing. */
  static async open(db: CopyDatabase): Promise<Copy> {
    await db.transaction(async (query) => {
      if (await db.hasTables(query)) return;
      for (const statement of layoutStatements(db.dialect)) await query(statement);
    });
    return new Copy(db);
  }

  load(): Promise<SyncState> {
    return this.#db.transaction(async (query) => {
      const brandId = await brandOf(query);
      const walk = await unfinishedWalk(query);
      if (walk === undefined) return { brandId, progress: undefined };
      const rows = (await query("select resource, cursor from to_read")) as { resource: ResourceName; cursor: string | null }[];
      // In the order of walks: the first is the one with a cursor.
      const toRead = rows
        .map(({ resource, cursor }) => ({ resource, cursor: cursor ?? undefined }))
        .toSorted((one, other) => RESOURCES.indexOf(one.resource) - RESOURCES.indexOf(other.resource));
      return { brandId, progress: { startedAt: walk.started_at, toRead } };
    });
  }

  writePage({ brandId, resource, records, requestedAt, listedAt, progress }: SyncPage): Promise<void> {
    return this.#db.transaction(async (query) => {
      await query("insert into brand (only_row, id) values (1, $1) on conflict (only_row) do nothing", [brandId]);
      const walk = (await unfinishedWalk(query)) ?? (await beginWalk(query, progress.startedAt));
      // Takes the record as listed, also if its updated_at is earlier: an import may have set it back.
      await query(
        `insert into records (resource, id, created_at, updated_at, record, listed_in, listed_at)
         select $1, value ->> 'id', value ->> 'created_at', value ->> 'updated_at', value, cast($3 as integer), $4
         from ${this.#db.dialect.elements} where true
         on conflict (resource, id) do update set created_at = excluded.created_at, updated_at = excluded.updated_at,
           record = excluded.record, listed_in = excluded.listed_in, listed_at = excluded.listed_at`,
        [resource, JSON.stringify(records), walk.id, listedAt],
      );
      const since = new Date(Date.parse(requestedAt) - CLOCK_MARGIN_MS).toISOString();
      const waiting =
        "select cast(event as text) as event from waiting_events where resource = $1 and received_at >= $2 order by updated_at";
      for (const { event } of await query(waiting, [resource, since])) await merge(query, JSON.parse(String(event)) as UnknownEvent);
      await query("delete from to_read");
      for (const { resource, cursor } of progress.toRead) {
        await query("insert into to_read (resource, cursor) values ($1, $2)", [resource, cursor ?? null]);
      }
    });
  }

  finishWalk({ finishedAt }: FinishedWalk): Promise<void> {
    return this.#db.transaction(async (query) => {
      await query("update walks set finished_at = $1 where finished_at is null", [finishedAt]);
      await query("delete from waiting_events");
    });
  }

  /** Merges a verified event into its record, if the event is newer. @throws CommandFailure without a walk, or if the event is another brand's */
  applyEvent(event: BrandEvent | UnknownEvent): Promise<EventOutcome> {
    return this.#db.transaction(async (query) => {
      const brandId = await brandOf(query);
      if (brandId === undefined) throw new CommandFailure("no_copy", `No walk has been made into ${this.name}.`);
      if (event.brand_id !== brandId) {
        throw new CommandFailure("wrong_brand", `The event is of brand ${event.brand_id}, the copy of ${brandId}. Nothing was written.`);
      }
      const { updated_at } = event.data;
      if (event.test) return "test";
      if (typeof updated_at !== "string") return "no_updated_at";
      await query(
        `insert into waiting_events (resource, id, updated_at, event, received_at) values ($1, $2, $3, $4, $5)
         on conflict (resource, id, updated_at) do update set event = excluded.event, received_at = excluded.received_at`,
        [...keyOf(event), updated_at, JSON.stringify(event), new Date().toISOString()],
      );
      return merge(query, event);
    });
  }

  counts(): Promise<ResourceCount[]> {
    return this.#db.transaction(async (query) => {
      const rows = await query(
        `select resource, count(*) as records, count(case when listed_in = (select max(id) from walks) then 1 end) as listed,
           count(case when listed_in < ${LAST_WALK} then 1 end) as vanished from records group by resource`,
      );
      return RESOURCES.map((resource) => {
        const row = rows.find((row) => row["resource"] === resource);
        const count = (name: string): number => Number(row?.[name] ?? 0);
        return { resource, records: count("records"), listed: count("listed"), vanished: count("vanished") };
      });
    });
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}

async function brandOf(query: Query): Promise<string | undefined> {
  const [brand] = (await query("select id from brand")) as { id: string }[];
  return brand?.id;
}

interface Walk {
  readonly id: number;
  readonly started_at: string;
}

async function unfinishedWalk(query: Query): Promise<Walk | undefined> {
  return (await query("select id, started_at from walks where finished_at is null"))[0] as Walk | undefined;
}

async function beginWalk(query: Query, startedAt: string): Promise<Walk> {
  const insert = "insert into walks (id, started_at) select coalesce(max(id), 0) + 1, $1 from walks returning id, started_at";
  return (await query(insert, [startedAt]))[0] as unknown as Walk;
}

/** The record that an event reports. */
const keyOf = ({ data }: BrandEvent | UnknownEvent) => [String(data["resource"]), String(data.id)] as const;

async function merge(query: Query, event: BrandEvent | UnknownEvent): Promise<EventOutcome> {
  const key = keyOf(event);
  const [row] = await query("select cast(record as text) as record, listed_at from records where resource = $1 and id = $2", key);
  if (row === undefined) return "not_in_copy";
  const record = JSON.parse(String(row["record"])) as RecordOf[ResourceName];
  const merged = mergeEvent({ record, listedAt: String(row["listed_at"]) }, event);
  if (!merged.isChanged) return merged.reason;
  const values = [...key, merged.record.updated_at, JSON.stringify(merged.record)];
  await query("update records set updated_at = $3, record = $4 where resource = $1 and id = $2", values);
  return "changed";
}
