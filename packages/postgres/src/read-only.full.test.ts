import { createDatabase, type TestDatabase } from "@brand-records/testkit";
import { openPool, type Database } from "./pool.ts";

/** One promise: a pool whose connections lead to a server that has become read-only uses none of them once one call has met it. */

const CONNECTIONS = 3;

let database: TestDatabase;
let db: Database;
let failures: string[];
let waits: number[];
beforeEach(async () => {
  database = await createDatabase("read_only", async (url) => {
    const prepare = openPool({ url, applicationName: "prepare" });
    await prepare.query("create table colors (name text primary key)");
    await prepare.stop();
  });
  [failures, waits] = [[], []];
  db = openPool({
    url: database.url,
    max: CONNECTIONS,
    applicationName: "read-only test",
    onFailure: (failure) => failures.push(failure),
    onWait: (seconds) => waits.push(seconds),
  });
});
afterEach(async () => {
  await db.stop();
  await database.drop();
});

/** Runs a statement on every connection of the pool at the same time, and returns their process ids. */
async function onEachConnection(statement: string): Promise<number[]> {
  let open = (): void => {};
  const all = new Promise<void>((resolve) => void (open = resolve));
  let reached = 0;
  return Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      db.transaction(async (sql) => {
        await sql.query(statement);
        const [row] = await sql.query<{ pid: number }>("select pg_backend_pid() as pid");
        reached += 1;
        if (reached === CONNECTIONS) open();
        await all;
        return row?.pid ?? 0;
      }),
    ),
  );
}

/** Leaves what a failover leaves: these connections are read-only, new ones are not. */
const makeReadOnly = (): Promise<number[]> => onEachConnection("select set_config('default_transaction_read_only', 'on', false)");

const INSERT = "insert into colors values ('red')";

it.each<[string, () => Promise<unknown>]>([
  ["statement", () => db.query(INSERT)],
  ["transaction", () => db.transaction((sql) => sql.query(INSERT))],
])("after a %s that met it", async (_, write) => {
  const before = await makeReadOnly();
  await expect(write()).rejects.toMatchObject({ kind: "unavailable", dependency: "postgres", cause: { code: "25006" } });
  expect(failures).toEqual(["read_only"]);
  const after = await onEachConnection("select 1");
  expect(after.filter((pid) => before.includes(pid))).toEqual([]);
  await write();
  expect(failures).toEqual(["read_only"]);
});

it("counts failures of the database and not of the data, and every wait for a connection", async () => {
  await db.query(INSERT);
  await expect(db.query(INSERT)).rejects.toMatchObject({ code: "23505" });
  await expect(db.query("select 'x'::int")).rejects.toMatchObject({ code: "22P02" });
  expect(failures).toEqual([]);
  await expect(db.query("select * from missing")).rejects.toMatchObject({ code: "42P01" });
  await expect(db.query("set local statement_timeout = 1; select pg_sleep(5)")).rejects.toMatchObject({ kind: "timeout" });
  expect(failures).toEqual(["other", "timeout"]);
  expect(waits).toHaveLength(5);
  await onEachConnection("select 1");
  expect(db.state()).toEqual({ idle: CONNECTIONS, used: 0, waiting: 0 });
});
