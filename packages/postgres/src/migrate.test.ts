import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase, eventually, startTcpProxy, type TestDatabase } from "@brand-records/testkit";
import { migrate, MigrationError, SchemaMismatchError } from "./migrate.ts";
import { openPool, type Database } from "./pool.ts";

let database: TestDatabase;
let db: Database;
let directory: string;
beforeEach(async () => {
  database = await createDatabase("empty");
  db = openPool({ url: database.url, applicationName: "migrate test" });
  directory = await mkdtemp(join(tmpdir(), "migrate-test-"));
});
afterEach(async () => {
  await db.stop();
  await database.drop();
  await rm(directory, { recursive: true });
});

const write = async (files: Record<string, string>): Promise<void> => {
  for (const [name, sql] of Object.entries(files)) await writeFile(join(directory, name), sql);
};
const run = (schema = "shop") => migrate({ url: database.url, schema, directory });
const steps = async (schema = "shop") =>
  (await db.query<{ name: string }>(`select name from ${schema}.steps order by at, name`)).map(({ name }) => name);
const versions = async () =>
  (await db.query<{ version: number }>("select version from shop.schema_migrations order by version")).map((row) => row.version);
const recordStep = (name: string): string => `insert into shop.steps (name) values ('${name}');`;
const FIRST = "create table shop.steps (at serial, name text);";

it("applies migrations in the order of their numbers, each once", async () => {
  await write({ "0001-first.sql": FIRST + recordStep("1"), "0002-second.sql": recordStep("2") });
  expect(await run()).toEqual(["0001-first.sql", "0002-second.sql"]);
  await write({ "0003-third.sql": recordStep("3"), "README.md": "not a migration" });
  expect(await run()).toEqual(["0003-third.sql"]);
  expect(await run()).toEqual([]);
  expect(await steps()).toEqual(["1", "2", "3"]);
});

it("keeps schemas of one database apart", async () => {
  await write({ "0001-first.sql": "create table if not exists public.shared (name text); insert into public.shared values ('x');" });
  expect(await run("one")).toEqual(["0001-first.sql"]);
  expect(await run('with "quotes"')).toEqual(["0001-first.sql"]);
  expect(await db.query("select count(*) from public.shared")).toEqual([{ count: 2 }]);
});

it("applies each migration once when many processes start at the same time", async () => {
  await write({ "0001-first.sql": FIRST + recordStep("1"), "0002-second.sql": `select pg_sleep(0.05); ${recordStep("2")}` });
  const applied = await Promise.all(Array.from({ length: 8 }, () => run()));
  expect(applied.flat().toSorted()).toEqual(["0001-first.sql", "0002-second.sql"]);
  expect(await steps()).toEqual(["1", "2"]);
});

it("refuses a schema that is newer than this release, and changes nothing", async () => {
  await write({ "0001-first.sql": FIRST, "0002-second.sql": recordStep("2") });
  await run();
  await rm(join(directory, "0002-second.sql"));
  await expect(run()).rejects.toThrow('The database schema "shop" is at version 2, newer than this release (1). Run the newer release.');
  expect(await versions()).toEqual([1, 2]);
});

it("refuses a schema whose applied migration differs from this release's, and applies no later one", async () => {
  await write({ "0001-first.sql": FIRST });
  await run();
  await write({ "0001-first.sql": `${FIRST} -- harmless`, "0002-second.sql": recordStep("2") });
  await expect(run()).rejects.toThrow(
    'The database schema "shop" was created by an incompatible release: its 0001-first.sql differs from this release\'s',
  );
  expect(await versions()).toEqual([1]);
});

it("advises npm run reset if the database is from an earlier release, whose migrations were more and different", async () => {
  const earlier = { "0001-first.sql": FIRST, "0002-second.sql": recordStep("2"), "0003-third.sql": recordStep("3") };
  await write(earlier);
  await run();
  for (const name of Object.keys(earlier)) await rm(join(directory, name));
  await write({ "0001-initial.sql": `${FIRST} ${recordStep("1")}` });
  const failure = await run().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(SchemaMismatchError);
  expect((failure as Error).message).toContain('On a laptop, run "npm run reset"');
  expect(await versions()).toEqual([1, 2, 3]);
});

it("rolls back a migration that fails, names it, keeps the earlier ones, and continues there once it is fixed", async () => {
  await write({
    "0001-first.sql": FIRST + recordStep("1"),
    "0002-second.sql": `create table shop.half (); ${recordStep("2")} select 1 / 0;`,
  });
  const failure = await run().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(MigrationError);
  expect(failure).toMatchObject({ message: "0002-second.sql: division by zero", cause: expect.objectContaining({ code: "22012" }) });
  expect(await steps()).toEqual(["1"]);
  expect(await versions()).toEqual([1]);
  expect(await db.query("select to_regclass('shop.half') as half")).toEqual([{ half: null }]);
  await write({ "0002-second.sql": recordStep("2") });
  expect(await run()).toEqual(["0002-second.sql"]);
});

it.each<[string, string[]]>([
  ["a gap", ["0001-first.sql", "0003-third.sql"]],
  ["a duplicate number", ["0001-first.sql", "0001-other.sql"]],
  ["no number", ["first.sql"]],
  ["a first number other than 0001", ["0002-second.sql"]],
  ["capitals or underscores in a name", ["0001-First_one.sql"]],
])("refuses files with %s before it touches the database", async (_, names) => {
  await write(Object.fromEntries(names.map((name) => [name, "select 1"])));
  await expect(run()).rejects.toThrow("number migrations 0001-name.sql, 0002-…, without gaps");
  expect(await db.query("select to_regnamespace('shop') as schema")).toEqual([{ schema: null }]);
});

it("gives up if a table stays locked, leaves nothing, and succeeds when it is free", async () => {
  await write({ "0001-first.sql": FIRST });
  await run();
  await write({
    "0001-first.sql": FIRST,
    "0002-second.sql": "set local lock_timeout = '10ms'; create table shop.two (); lock shop.steps;",
  });
  await db.transaction(async (sql) => {
    await sql.query("lock shop.steps in access share mode");
    await expect(run()).rejects.toThrow("0002-second.sql: a table stayed locked by another transaction for 5 s. Nothing was changed.");
  });
  expect(await run()).toEqual(["0002-second.sql"]);
});

it("rejects if the connection is lost during a migration, and leaves nothing of the migration", async () => {
  const { hostname, port } = new URL(database.url);
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  const url = new URL(database.url);
  url.host = `127.0.0.1:${proxy.port}`;
  await write({ "0001-first.sql": `${FIRST} select pg_sleep(60);` });
  const migrating = migrate({ url: url.href, schema: "shop", directory }).catch((error: unknown) => error);
  await eventually(async () => {
    const sleeping = await db.query("select from pg_stat_activity where application_name = 'migrate shop' and wait_event = 'PgSleep'");
    expect(sleeping).toHaveLength(1);
  });
  await proxy.cut();
  expect(await migrating).toMatchObject({ message: expect.stringContaining("0001-first.sql: ") });
  await db.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'migrate shop'");
  await write({ "0001-first.sql": FIRST });
  expect(await run()).toEqual(["0001-first.sql"]);
  await proxy.stop();
});
