import { createDatabase, eventually, type TestDatabase } from "@brand-records/testkit";
import { asIndexBuilder, buildLateIndexes, type LateIndex } from "./late-indexes.ts";
import { openPool, type Database } from "./pool.ts";

const INDEXES: readonly LateIndex[] = [
  { name: "orders_of_item", table: "shop.orders", definition: "(item) where item is not null" },
  { name: "orders_of_buyer", table: "shop.orders", definition: "(buyer)" },
];

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase("late_indexes");
  db = openPool({ url: database.url, applicationName: "index test" });
});
beforeEach(() =>
  db.query("drop schema if exists shop cascade; create schema shop; create table shop.orders (id int, item text, buyer text)"),
);
afterAll(async () => {
  await db.stop();
  await database.drop();
});

const build = () => buildLateIndexes(db, { url: database.url, schema: "shop", indexes: INDEXES });
const names = INDEXES.map(({ name }) => name);
const validIndexes = async (): Promise<string[]> =>
  (
    await db.query<{ name: string }>(
      "select c.relname as name from pg_index x join pg_class c on c.oid = x.indexrelid where x.indisvalid and x.indrelid = 'shop.orders'::regclass",
    )
  ).map(({ name }) => name);

it("builds each index once, whichever of several processes does it", async () => {
  const built = await Promise.all(Array.from({ length: 4 }, build));
  expect(built.flat().toSorted()).toEqual(names.toSorted());
  expect((await validIndexes()).toSorted()).toEqual(names.toSorted());
  expect(await build()).toEqual([]);
});

it("repeats a build that was interrupted", async () => {
  await db.query("create index orders_of_buyer on shop.orders (id)");
  await db.query("update pg_index set indisvalid = false where indexrelid = 'shop.orders_of_buyer'::regclass");
  expect(await build()).toEqual(names);
  const [index] = await db.query<{ definition: string }>("select pg_get_indexdef('shop.orders_of_buyer'::regclass) as definition");
  expect(index?.definition).toContain("(buyer)");
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
  expect(await building).toEqual(names);
});
