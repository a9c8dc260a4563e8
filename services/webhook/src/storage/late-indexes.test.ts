import { join } from "node:path";
import { migrate, openPool, type Database } from "@brand-records/postgres";
import { createDatabase, type TestDatabase } from "@brand-records/testkit";
import { ensureDays } from "./daily-partitions.ts";
import { buildLateIndexes } from "./late-indexes.ts";

const DAYS = ["2026-01-20", "2026-01-21"];
const LATE = ["events_of_record", "events_of_type", "past_deliveries_failed", "past_deliveries_of_type"];

const OF_DELIVERIES = ["deliveries_unleased_newest", "deliveries_unleased_of_event", "deliveries_unleased_of_type"];
const REPLACED = ["deliveries_newest", "deliveries_of_event", "deliveries_of_type"];

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase("webhook_schema", async (url) => {
    await migrate({ url, schema: "webhook", directory: join(import.meta.dirname, "../../migrations") });
  });
  db = openPool({ url: database.url, applicationName: "index test" });
  await ensureDays(db, DAYS);
});
afterAll(async () => {
  await db.stop();
  await database.drop();
});

/** Leaves the tables as the migrations leave those of an earlier release: without the indexes in the days that there are. */
async function dropLateIndexes(): Promise<void> {
  const definitions = await db.query<{ name: string; definition: string }>(
    "select c.relname as name, pg_get_indexdef(c.oid) as definition from pg_class c where c.relkind = 'I' and c.relname = any($1::text[])",
    [LATE],
  );
  for (const { name, definition } of definitions) await db.query(`drop index webhook.${name}; ${definition}`);
  for (const name of OF_DELIVERIES) await db.query(`drop index if exists webhook.${name}`);
}

const areValid = async (): Promise<boolean> => {
  const [row] = await db.query<{ valid: number }>(
    "select count(*) as valid from pg_index where indisvalid and indexrelid = any($1::text[]::regclass[])",
    [[...LATE, ...OF_DELIVERIES].map((name) => `webhook.${name}`)],
  );
  return row?.valid === LATE.length + OF_DELIVERIES.length;
};

const names = (): string[] => [...LATE.flatMap((name) => DAYS.map((day) => `${name}_${day.replaceAll("-", "")}`)), ...OF_DELIVERIES];

it("builds each index of the days that there are, once, whichever of several processes does it", async () => {
  await dropLateIndexes();
  const built = await Promise.all(Array.from({ length: 4 }, () => buildLateIndexes(db, database.url)));
  expect(built.flat().toSorted()).toEqual(names().toSorted());
  expect(await areValid()).toBe(true);
  expect(await buildLateIndexes(db, database.url)).toEqual([]);
});

it("drops the indexes that they replace, even if nothing is left to build", async () => {
  for (const name of REPLACED)
    await db.query(`create index if not exists ${name} on webhook.deliveries (receiver_id) where state = 'pending'`);
  expect(await buildLateIndexes(db, database.url)).toEqual([]);
  const left = await db.query("select from pg_class where relnamespace = 'webhook'::regnamespace and relname = any($1::text[])", [
    REPLACED,
  ]);
  expect(left).toEqual([]);
});

it("gives them to new days without building", async () => {
  await ensureDays(db, ["2026-01-22"]);
  expect(await buildLateIndexes(db, database.url)).toEqual([]);
});

it("repeats a build that was interrupted", async () => {
  await dropLateIndexes();
  await db.query("create index deliveries_unleased_of_event on webhook.deliveries (event_id)");
  await db.query("create index events_of_type_20260120 on webhook.events_20260120 (brand_id)");
  await db.query(
    "update pg_index set indisvalid = false where indexrelid in ('webhook.deliveries_unleased_of_event'::regclass, 'webhook.events_of_type_20260120'::regclass)",
  );
  await buildLateIndexes(db, database.url);
  expect(await areValid()).toBe(true);
  const [index] = await db.query<{ definition: string }>(
    "select pg_get_indexdef('webhook.events_of_type_20260120'::regclass) as definition",
  );
  expect(index?.definition).toContain("(brand_id, type, created_at DESC, id DESC)");
});
