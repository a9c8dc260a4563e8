import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase, eventually, type TestDatabase } from "@brand-records/testkit";
import { proxied } from "../test/proxied.ts";
import { countPendingMigrations, migrate } from "./migrate.ts";
import { MigrationError, SchemaMismatchError } from "./migration-files.ts";
import { openPool, type Database } from "./pool.ts";

let database: TestDatabase;
let db: Database;
let directory: string;
beforeAll(async () => {
  database = await createDatabase("empty");
  db = openPool({ url: database.url, applicationName: "migrate test" });
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "migrate-test-"));
});
afterEach(async () => {
  await db.query("drop schema if exists shop cascade");
  await rm(directory, { recursive: true });
});
afterAll(async () => {
  await db.stop();
  await database.drop();
});

const write = async (files: Record<string, string>): Promise<void> => {
  for (const [name, sql] of Object.entries(files)) await writeFile(join(directory, name), sql);
};
const run = (schema = "shop", lockPausesMs: number[] = []) => migrate({ url: database.url, schema, directory, lockPausesMs });
const countPending = () => countPendingMigrations({ url: database.url, schema: "shop", directory });
const steps = async () => (await db.query<{ name: string }>("select name from shop.steps order by at, name")).map(({ name }) => name);
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

it.each([
  ["does not say with which releases it works", ""],
  ["works only with later releases", "-- works-with-schema: 2\n"],
])("refuses a schema that is newer than this release if the migration %s, and changes nothing", async (_, firstLine) => {
  await write({ "0001-first.sql": FIRST, "0002-second.sql": firstLine + recordStep("2") });
  await run();
  await rm(join(directory, "0002-second.sql"));
  await expect(run()).rejects.toThrow(
    'The database schema "shop" is at version 2, newer than this release (1), and its migration 2 does not work with this release. Run the newer release.',
  );
  expect(await versions()).toEqual([1, 2]);
});

it("leaves a schema as it is that is newer than this release and works with it, in releases down to the oldest that is named", async () => {
  const third = `-- works-with-schema: 2\n${recordStep("3")}`;
  await write({ "0001-first.sql": FIRST, "0002-second.sql": `-- works-with-schema: 1\n${recordStep("2")}`, "0003-third.sql": third });
  await run();
  await rm(join(directory, "0003-third.sql"));
  expect(await run()).toEqual([]);
  expect(await countPending()).toBe(0);
  await rm(join(directory, "0002-second.sql"));
  await expect(run()).rejects.toThrow("its migration 3 does not work with this release");
  expect(await versions()).toEqual([1, 2, 3]);
});

it.each([0, 3])("refuses a migration 0002 that claims to work with schema %i", async (version) => {
  await write({ "0001-first.sql": FIRST, "0002-second.sql": `-- works-with-schema: ${version}\n` });
  await expect(run()).rejects.toThrow("0002-second.sql: works-with-schema must be from 1 to 2");
});

it("counts what the schema lacks, and changes nothing", async () => {
  await write({ "0001-first.sql": FIRST, "0002-second.sql": recordStep("2") });
  expect(await countPending()).toBe(2);
  expect(await db.query("select to_regnamespace('shop') as schema")).toEqual([{ schema: null }]);
  await run();
  expect(await countPending()).toBe(0);
});

it.each<[string, string[]]>([
  ["", ["0001-first.sql"]],
  [", whose migrations were more", ["0001-first.sql", "0002-second.sql", "0003-third.sql"]],
])("refuses a schema of an incompatible release%s: it applies nothing, and advises npm run reset", async (_, earlier) => {
  await write(Object.fromEntries(earlier.map((name, index) => [name, index === 0 ? FIRST : recordStep(name)])));
  await run();
  for (const name of earlier) await rm(join(directory, name));
  await write({ "0001-initial.sql": `${FIRST} -- harmless`, "0002-later.sql": recordStep("later") });
  const failure = await run().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(SchemaMismatchError);
  expect((failure as Error).message).toMatch(
    /^The database schema "shop" was created by an incompatible release: its 0001-initial.sql differs from .*On a laptop, run "npm run reset"/,
  );
  expect(await versions()).toEqual(earlier.map((_, index) => index + 1));
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
    await expect(run("shop", [1, 1])).rejects.toThrow(
      "0002-second.sql: a table stayed locked by other transactions at each of 3 tries. Nothing was changed.",
    );
  });
  expect(await run()).toEqual(["0002-second.sql"]);
});

it("tries again while a table is locked, lets later statements proceed between tries, and ends when it is free", async () => {
  await write({ "0001-first.sql": FIRST });
  await run();
  await write({ "0002-second.sql": "set local lock_timeout = '10ms'; lock shop.steps;" });
  let migrating: Promise<string[]> | undefined;
  await db.transaction(async (sql) => {
    await sql.query("lock shop.steps in access share mode");
    migrating = run(
      "shop",
      Array.from({ length: 1_000 }, () => 20),
    );
    await eventually(async () => {
      const waiting = "select from pg_stat_activity where application_name = 'migrate shop' and query = 'rollback'";
      expect(await db.query(waiting)).toHaveLength(1);
    });
    await db.query(recordStep("meanwhile"));
  });
  expect(await migrating).toEqual(["0002-second.sql"]);
});

describe("with a login of its own", () => {
  // Roles belong to the server, which other runs share.
  const [owner, login] = [`shop_owner_${process.pid}`, `shop_${process.pid}`];
  const as = (username: string): string => Object.assign(new URL(database.url), { username, password: "pw" }).href;

  const migrateAsOwner = () => migrate({ url: as(owner), schema: "shop", directory, grantTo: login });

  beforeEach(async () => {
    await db.query(`create role ${owner} login password 'pw'; create role ${login} login password 'pw'`);
    await db.query(`grant create on database ${new URL(database.url).pathname.slice(1)} to ${owner}`);
  });
  afterEach(async () => {
    await db.query(`drop owned by ${owner}, ${login} cascade`);
    await db.query(`drop role ${owner}, ${login}`);
  });

  it("owns the schema, and gives the service's login the rights to read and write what there is, and what comes later", async () => {
    await write({ "0001-first.sql": FIRST });
    await migrateAsOwner();
    await write({ "0002-second.sql": "create table shop.later (id bigint generated always as identity, name text)" });
    await migrateAsOwner();
    const service = openPool({ url: as(login), max: 1, applicationName: "tests" });
    try {
      await service.query("insert into shop.steps (name) values ('a')");
      await service.query("insert into shop.later (name) values ('a')");
      expect(await service.query("update shop.steps set name = 'b' returning name")).toEqual([{ name: "b" }]);
      await service.query("delete from shop.later");
      await expect(service.query("alter table shop.steps add column more text")).rejects.toThrow("must be owner of table steps");
      await expect(service.query("delete from shop.schema_migrations")).rejects.toThrow("permission denied");
    } finally {
      await service.stop();
    }
    expect(await countPendingMigrations({ url: as(login), schema: "shop", directory })).toBe(0);
  });

  it("refuses a service that waits nothing between two migrations", async () => {
    // The state between two migrations, kept by one that fails.
    await write({ "0001-first.sql": FIRST, "0002-second.sql": "create table shop.later (id serial)", "0003-third.sql": "select 1 / 0" });
    await expect(migrateAsOwner()).rejects.toThrow("0003-third.sql: ");
    expect(await countPendingMigrations({ url: as(login), schema: "shop", directory })).toBe(1);
    const service = openPool({ url: as(login), max: 1, applicationName: "tests" });
    try {
      expect(await service.query("insert into shop.later default values returning id")).toEqual([{ id: 1 }]);
    } finally {
      await service.stop();
    }
  });
});

it("rejects if the connection is lost during a migration, and leaves nothing of the migration", async () => {
  const { proxy, url } = await proxied(database.url);
  await write({ "0001-first.sql": `${FIRST} select pg_sleep(60);` });
  const migrating = migrate({ url, schema: "shop", directory }).catch((error: unknown) => error);
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
