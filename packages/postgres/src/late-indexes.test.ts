import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase, eventually, type TestDatabase } from "@brand-records/testkit";
import { asIndexBuilder, buildLateIndexes } from "./late-indexes.ts";
import { openPool, type Database } from "./pool.ts";

const ORDERS = `
-- What a later release adds.
create index orders_of_item on shop.orders (item) where item is not null; -- Few have one.
create index orders_of_buyer on shop.orders
  (buyer);
`;
const OF_ORDERS = ["orders_of_buyer", "orders_of_item"];
const OF_SALES = ["sales_of_item_20260120", "sales_of_item_20260121"];
const DAYS = ["20260120", "20260121"];

let database: TestDatabase;
let db: Database;
let directory: string;
beforeAll(async () => {
  database = await createDatabase("late_indexes");
  db = openPool({ url: database.url, applicationName: "index test" });
  directory = await mkdtemp(join(tmpdir(), "late-indexes-"));
});
beforeEach(async () => {
  await db.query("drop schema if exists shop cascade; create schema shop; create table shop.orders (id int, item text, buyer text)");
  await writeFile(join(directory, "late-indexes.sql"), ORDERS);
});
afterAll(async () => {
  await db.stop();
  await database.drop();
  await rm(directory, { recursive: true });
});

const build = () => buildLateIndexes(db, { url: database.url, schema: "shop", directory });

async function validIndexes(): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `select c.relname as name from pg_index x join pg_class c on c.oid = x.indexrelid
      where x.indisvalid and c.relnamespace = 'shop'::regnamespace order by 1`,
  );
  return rows.map(({ name }) => name);
}

const definitionOf = async (index: string): Promise<unknown> =>
  (await db.query<{ definition: string }>("select pg_get_indexdef($1::regclass) as definition", [`shop.${index}`]))[0]?.definition;

/** As a migration of a later release: the index of a table that has partitions. */
async function partition(): Promise<void> {
  await db.query("create table shop.sales (day int, item text) partition by range (day)");
  for (const [n, day] of DAYS.entries()) {
    await db.query(`create table shop.sales_${day} partition of shop.sales for values from (${n}) to (${n + 1})`);
  }
  await db.query("create index sales_of_item on only shop.sales (item)");
}

it("builds each index once, whichever of several processes does it, and those of the partitions that there are", async () => {
  await partition();
  const built = await Promise.all(Array.from({ length: 4 }, build));
  expect(built.flat().toSorted()).toEqual([...OF_ORDERS, ...OF_SALES]);
  expect(await validIndexes()).toEqual([...OF_ORDERS, "sales_of_item", ...OF_SALES]);
  expect(await build()).toEqual([]);
});

it("builds nothing without a file", async () => {
  await rm(join(directory, "late-indexes.sql"));
  expect(await build()).toEqual([]);
});

it("refuses any other statement", async () => {
  await writeFile(join(directory, "late-indexes.sql"), "create index concurrently orders_of_item on shop.orders (item);");
  await expect(build()).rejects.toThrow("must be create index NAME on SCHEMA.TABLE");
});

it("repeats a build that was interrupted", async () => {
  await partition();
  await db.query("create index orders_of_buyer on shop.orders (id); create index sales_of_item_20260120 on shop.sales_20260120 (day)");
  await db.query(
    "update pg_index set indisvalid = false where indexrelid in ('shop.orders_of_buyer'::regclass, 'shop.sales_of_item_20260120'::regclass)",
  );
  expect((await build()).toSorted()).toEqual([...OF_ORDERS, ...OF_SALES]);
  expect(await definitionOf("orders_of_buyer")).toContain("(buyer)");
  expect(await definitionOf("sales_of_item_20260120")).toContain("(item)");
});

it("attaches what was built before an interruption", async () => {
  await partition();
  await db.query("create index sales_of_item_20260120 on shop.sales_20260120 (item)");
  await build();
  expect(await validIndexes()).toContain("sales_of_item");
});

it("goes no further once its session is lost: another process has the lock by then", async () => {
  let builds: string[] = [];
  const interrupted = asIndexBuilder(database.url, "shop", async (builder) => {
    const [session] = await builder.query<{ pid: number }>("select pg_backend_pid() as pid");
    await db.query("select pg_terminate_backend($1)", [session?.pid]);
    await eventually(async () => expect(await asIndexBuilder(database.url, "shop", async () => true)).toBe(true));
    await builder.query("create index orders_of_item on shop.orders (item)");
    builds = ["without the lock"];
  });
  await expect(interrupted).rejects.toMatchObject({ kind: "unavailable" });
  expect([builds, await validIndexes()]).toEqual([[], []]);
});

it("lets others write while it builds", async () => {
  let building: Promise<string[]> = Promise.resolve([]);
  await db.transaction(async (sql) => {
    await sql.query("insert into shop.orders values (1)");
    building = build();
    // It waits for this transaction.
    await eventually(async () => expect(await db.query("select from pg_stat_progress_create_index")).toHaveLength(1));
    await db.query("insert into shop.orders values (2)");
  });
  expect((await building).toSorted()).toEqual(OF_ORDERS);
});
