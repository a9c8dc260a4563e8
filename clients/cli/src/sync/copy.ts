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
import { layoutStatements } from "./layout.ts";

/** A page may lack the events of so many milliseconds before its request: the clock may have been set back since. What is not newer changes nothing. */
const CLOCK_MARGIN_MS = 5 * 60_000;

export type EventOutcome = Extract<Merged, { isChanged: false }>["reason"] | "changed" | "not_in_copy";

/** Records of a resource in the copy, and those of them that the last finished walk did not list. */
export interface ResourceCount {
  readonly resource: string;
  readonly records: number;
  readonly vanished: number;
}

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
      return { brandId, progress: { startedAt: walk.startedAt, toRead } };
    });
  }

  writePage({ brandId, resource, records, requestedAt, listedAt, progress }: SyncPage): Promise<void> {
    return this.#db.transaction(async (query) => {
      await query("insert into brand (only_row, id) values (1, $1) on conflict (only_row) do nothing", brandId);
      const walkId = (await unfinishedWalk(query))?.id ?? (await beginWalk(query, progress.startedAt));
      // Takes the record as listed, also if its updated_at is earlier: an import may have set it back.
      await query(
        `insert into records (resource, id, created_at, updated_at, record, listed_in, listed_at)
         select $1, value ->> 'id', value ->> 'created_at', value ->> 'updated_at', value, cast($3 as integer), $4
         from ${this.#db.dialect.elements} where true
         on conflict (resource, id) do update set created_at = excluded.created_at, updated_at = excluded.updated_at,
           record = excluded.record, listed_in = excluded.listed_in, listed_at = excluded.listed_at`,
        resource,
        JSON.stringify(records),
        walkId,
        listedAt,
      );
      const since = new Date(Date.parse(requestedAt) - CLOCK_MARGIN_MS).toISOString();
      const waiting = await query(
        "select cast(event as text) as event from waiting_events where resource = $1 and received_at >= $2 order by updated_at",
        resource,
        since,
      );
      for (const { event } of waiting) await merge(query, JSON.parse(String(event)) as UnknownEvent);
      await query("delete from to_read");
      for (const { resource, cursor } of progress.toRead) {
        await query("insert into to_read (resource, cursor) values ($1, $2)", resource, cursor ?? null);
      }
    });
  }

  finishWalk({ finishedAt }: FinishedWalk): Promise<void> {
    return this.#db.transaction(async (query) => {
      await query("update walks set finished_at = $1 where finished_at is null", finishedAt);
      await query("delete from waiting_events");
    });
  }

  /** Merges a verified event into its record, if the event is newer. @throws CommandFailure without a walk, or if the event is another brand's */
  applyEvent(event: BrandEvent | UnknownEvent): Promise<EventOutcome> {
    return this.#db.transaction(async (query) => {
      const brandId = await brandOf(query);
      if (brandId === undefined) throw new CommandFailure("no_copy", `No walk has been made into ${this.#db.name}.`);
      if (event.brand_id !== brandId) {
        throw new CommandFailure("wrong_brand", `The event is of brand ${event.brand_id}, the copy of ${brandId}. Nothing was written.`);
      }
      const { resource, id, updated_at } = event.data as Record<string, string>;
      if (event.test) return "test";
      if (typeof updated_at !== "string") return "no_updated_at";
      await query(
        `insert into waiting_events (resource, id, updated_at, event, received_at) values ($1, $2, $3, $4, $5)
         on conflict (resource, id, updated_at) do update set event = excluded.event, received_at = excluded.received_at`,
        resource as string,
        id as string,
        updated_at,
        JSON.stringify(event),
        new Date().toISOString(),
      );
      return merge(query, event);
    });
  }

  counts(): Promise<ResourceCount[]> {
    return this.#db.transaction(async (query) => {
      const rows = await query(
        `select resource, count(*) as records, (select count(*) from vanished where vanished.resource = records.resource) as vanished
         from records group by resource`,
      );
      const counts = new Map(rows.map((row) => [String(row["resource"]), row]));
      return RESOURCES.map((resource) => {
        const row = counts.get(resource);
        return { resource, records: Number(row?.["records"] ?? 0), vanished: Number(row?.["vanished"] ?? 0) };
      });
    });
  }

  /** Returns how many records the unfinished walk has listed. */
  listedCount(): Promise<number> {
    return this.#db.transaction(async (query) => {
      const walk = await unfinishedWalk(query);
      if (walk === undefined) return 0;
      const [row] = await query("select count(*) as listed from records where listed_in = $1", walk.id);
      return Number(row?.["listed"]);
    });
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}

async function brandOf(query: Query): Promise<string | undefined> {
  const [brand] = await query("select id from brand");
  return brand === undefined ? undefined : String(brand["id"]);
}

async function unfinishedWalk(query: Query): Promise<{ readonly id: number; readonly startedAt: string } | undefined> {
  const [walk] = await query("select id, started_at from walks where finished_at is null");
  return walk === undefined ? undefined : { id: Number(walk["id"]), startedAt: String(walk["started_at"]) };
}

async function beginWalk(query: Query, startedAt: string): Promise<number> {
  const [walk] = await query("insert into walks (id, started_at) select coalesce(max(id), 0) + 1, $1 from walks returning id", startedAt);
  return Number(walk?.["id"]);
}

async function merge(query: Query, event: BrandEvent | UnknownEvent): Promise<EventOutcome> {
  const { resource, id } = event.data as Record<string, string>;
  const key = [resource as string, id as string] as const;
  const [row] = await query("select cast(record as text) as record, listed_at from records where resource = $1 and id = $2", ...key);
  if (row === undefined) return "not_in_copy";
  const record = JSON.parse(String(row["record"])) as RecordOf[ResourceName];
  const merged = mergeEvent({ record, listedAt: String(row["listed_at"]) }, event);
  if (!merged.isChanged) return merged.reason;
  const { updated_at } = merged.record;
  await query(
    "update records set updated_at = $3, record = $4 where resource = $1 and id = $2",
    ...key,
    updated_at,
    JSON.stringify(merged.record),
  );
  return "changed";
}
