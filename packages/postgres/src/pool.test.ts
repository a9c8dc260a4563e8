import { createDatabase, eventually, startTcpProxy, type TcpProxy, type TestDatabase } from "@brand-records/testkit";
import { isUniqueViolation } from "./errors.ts";
import { openPool, type Database, type PoolOptions } from "./pool.ts";

let database: TestDatabase;
const opened: { stop(): Promise<void> }[] = [];
const open = (options: Partial<PoolOptions> = {}): Database => {
  const db = openPool({ url: database.url, applicationName: "pool test", ...options });
  opened.push(db);
  return db;
};

beforeEach(async () => {
  database = await createDatabase("pool", async (url) => {
    const db = openPool({ url, applicationName: "prepare" });
    await db.query("create table colors (name text primary key)");
    await db.stop();
  });
});
afterEach(async () => {
  for (const thing of opened.splice(0).toReversed()) await thing.stop();
  await database.drop();
});

const colors = async (db: Database) => (await db.query<{ name: string }>("select name from colors order by name")).map(({ name }) => name);

async function behindProxy(options: Partial<PoolOptions> = {}): Promise<{ db: Database; proxy: TcpProxy; lost: Error[] }> {
  const { hostname, port } = new URL(database.url);
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  opened.push(proxy);
  const url = new URL(database.url);
  url.host = `127.0.0.1:${proxy.port}`;
  const lost: Error[] = [];
  const db = open({ url: url.href, onIdleError: (error) => lost.push(error), ...options });
  return { db, proxy, lost };
}

describe("values", () => {
  it.each([
    ["2026-11-21 08:30:00+00", "2026-11-21T08:30:00.000Z"],
    ["2026-11-21 08:30:00.1+00", "2026-11-21T08:30:00.100Z"],
    ["2026-11-21 08:30:00.12+00", "2026-11-21T08:30:00.120Z"],
    ["2026-11-21 08:30:00.123+00", "2026-11-21T08:30:00.123Z"],
    ["2026-11-21 16:30:00.5+08", "2026-11-21T08:30:00.500Z"],
  ])("of timestamptz are returned as RFC 3339 in UTC with milliseconds: %s", async (text, expected) => {
    expect(await open().query("select $1::timestamptz(3) as at", [text])).toEqual([{ at: expected }]);
  });

  it("of timestamptz are in UTC even if the database defaults to another time zone and style", async () => {
    const name = new URL(database.url).pathname.slice(1);
    await open().query(`alter database ${name} set timezone = 'Asia/Manila'`);
    await open().query(`alter database ${name} set datestyle = 'German'`);
    expect(await open().query("select '2026-11-21 08:30:00.25+00'::timestamptz(3) as at")).toEqual([{ at: "2026-11-21T08:30:00.250Z" }]);
  });

  it("of bigint are returned as numbers, null as null, text arrays as arrays", async () => {
    expect(await open().query("select 9007199254740991::bigint as most, null::bigint as none, array['a', 'b,c'] as texts")).toEqual([
      { most: Number.MAX_SAFE_INTEGER, none: null, texts: ["a", "b,c"] },
    ]);
  });
});

describe("a filled pool", () => {
  const sessions = (db: Database) =>
    db.query("select count(*) from pg_stat_activity where application_name = 'filled' and datname = current_database()");

  it("has all its connections, and has used each", async () => {
    expect(await open({ applicationName: "filled", max: 5 }).fill()).toBe(5);
    expect(await sessions(open())).toEqual([{ count: 5 }]);
  });

  it("has as many as the database accepts", async () => {
    const name = new URL(database.url).pathname.slice(1);
    const admin = open({ max: 1 });
    await admin.query(`create role limited login password 'x' connection limit 2`);
    await admin.query(`grant connect on database ${name} to limited`);
    const url = new URL(database.url);
    Object.assign(url, { username: "limited", password: "x" });
    const db = openPool({ url: url.href, applicationName: "filled", max: 4 });
    expect(await db.fill()).toBe(2);
    await db.stop();
    await admin.query("revoke all on database " + name + " from limited");
    await admin.query("drop role limited");
  });

  it("opens its connections again by itself when the database is back", async () => {
    const { db, proxy, lost } = await behindProxy({ applicationName: "filled", max: 3 });
    const observer = open({ max: 1 });
    expect(await db.fill()).toBe(3);
    await proxy.cut();
    await eventually(async () => expect([lost.length, await sessions(observer)]).toEqual([3, [{ count: 0 }]]));
    await proxy.heal();
    await eventually(async () => expect(await sessions(observer)).toEqual([{ count: 3 }]));
  });

  it("uses none of its connections again when the server has ended one: the others lead to the same server", async () => {
    const lost: Error[] = [];
    const db = open({ applicationName: "filled", max: 3, onIdleError: (error) => lost.push(error) });
    const observer = open({ max: 1 });
    expect(await db.fill()).toBe(3);
    const pids = async (): Promise<number[]> =>
      (
        await observer.query<{ pid: number }>(
          "select pid from pg_stat_activity where application_name = 'filled' and datname = current_database()",
        )
      ).map(({ pid }) => pid);
    const before = await pids();
    await observer.query("select pg_terminate_backend($1)", [before[0]]);
    await eventually(() => expect(lost).toHaveLength(1));
    const used = await Promise.all(Array.from({ length: 3 }, () => db.query<{ pid: number }>("select pg_backend_pid() as pid")));
    expect(used.flat().filter(({ pid }) => before.includes(pid))).toEqual([]);
    await eventually(async () => expect((await pids()).filter((pid) => before.includes(pid))).toEqual([]));
  });

  it("is empty if the database is away, and no error ends the process", async () => {
    const { db, proxy } = await behindProxy({ max: 2 });
    await proxy.stop();
    opened.splice(opened.indexOf(proxy), 1);
    expect(await db.fill()).toBe(0);
  });
});

describe("a transaction", () => {
  it("commits when the work resolves, and returns its result", async () => {
    const db = open();
    expect(
      await db.transaction(async (sql) => {
        await sql.query("insert into colors values ('violet')");
        expect(await colors(db)).toEqual([]);
        return "done";
      }),
    ).toBe("done");
    expect(await colors(db)).toEqual(["violet"]);
  });

  it("rolls back when the work rejects, rejects with the same error, and keeps the connection usable", async () => {
    const db = open({ max: 1 });
    const failure = new Error("changed my mind");
    const work = db.transaction(async (sql) => {
      await sql.query("insert into colors values ('violet')");
      throw failure;
    });
    await expect(work).rejects.toBe(failure);
    expect(await colors(db)).toEqual([]);
  });

  it("rolls back when a statement fails", async () => {
    const db = open({ max: 1 });
    const error = await db
      .transaction(async (sql) => {
        await sql.query("insert into colors values ('violet')");
        await sql.query("insert into colors values ('violet')");
      })
      .catch((thrown: unknown) => thrown);
    expect(isUniqueViolation(error)).toBe(true);
    expect(await colors(db)).toEqual([]);
  });

  it("with a lost connection rejects with unavailable and keeps nothing, and the pool reconnects", async () => {
    const { db, proxy } = await behindProxy({ max: 1 });
    const work = db.transaction(async (sql) => {
      await sql.query("insert into colors values ('violet')");
      await proxy.cut();
      await sql.query("insert into colors values ('teal')");
    });
    await expect(work).rejects.toMatchObject({ kind: "unavailable" });
    await proxy.heal();
    await eventually(async () => expect(await colors(db)).toEqual([]));
  });

  it("whose connection is lost between statements rejects with unavailable", async () => {
    const { db, proxy } = await behindProxy({ max: 1 });
    const work = db.transaction(async (sql) => {
      await sql.query("insert into colors values ('violet')");
      const closed = new Promise((resolve) => sql.client.once("end", resolve));
      await proxy.cut();
      await closed;
    });
    await expect(work).rejects.toMatchObject({ kind: "unavailable" });
    await proxy.heal();
    await eventually(async () => expect(await colors(db)).toEqual([]));
  });
});

describe("an unavailable server", () => {
  it("makes queries and transactions reject with unavailable and a retry after a second, until it is back", async () => {
    const { db, proxy } = await behindProxy();
    await colors(db);
    await proxy.cut();
    const unavailable = { kind: "unavailable", retryAfterSeconds: 1 };
    await expect(colors(db)).rejects.toMatchObject(unavailable);
    await expect(db.transaction(async () => "done")).rejects.toMatchObject(unavailable);
    await proxy.heal();
    await eventually(async () => expect(await colors(db)).toEqual([]));
  });

  it("makes a running query reject with unavailable", async () => {
    const { db, proxy } = await behindProxy();
    const running = db.query("select pg_sleep(60)").catch((error: unknown) => error);
    const witness = open();
    await eventually(async () => {
      const sleeping = await witness.query("select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'");
      expect(sleeping).toHaveLength(1);
    });
    await proxy.cut();
    expect(await running).toMatchObject({ kind: "unavailable" });
  });

  it("that ends idle connections is reported, and does not end the process", async () => {
    const { db, proxy, lost } = await behindProxy();
    await colors(db);
    await proxy.cut();
    await eventually(() => expect(lost).toHaveLength(1));
    await proxy.heal();
    expect(await colors(db)).toEqual([]);
  });

  it("that accepts connections and sends nothing makes queries reject with unavailable instead of waiting forever", async () => {
    const { db, proxy } = await behindProxy();
    await proxy.blackhole();
    await expect(colors(db)).rejects.toMatchObject({ kind: "unavailable" });
    await proxy.heal();
    await eventually(async () => expect(await colors(db)).toEqual([]));
  });

  it("that falls silent during a query makes it reject with unavailable; the connection is not reused", async () => {
    const { db, proxy } = await behindProxy({ max: 1, statementTimeoutMs: 200 });
    await colors(db);
    await proxy.blackhole();
    await expect(colors(db)).rejects.toMatchObject({ kind: "unavailable" });
    await proxy.heal();
    await eventually(async () => expect(await colors(db)).toEqual([]));
  });

  it("that falls silent during a transaction makes it reject with unavailable; the connection is not reused", async () => {
    const { db, proxy } = await behindProxy({ max: 1, statementTimeoutMs: 200 });
    const work = db.transaction(async (sql) => {
      await sql.query("select 1");
      await proxy.blackhole();
      await sql.query("select 1");
    });
    await expect(work).rejects.toMatchObject({ kind: "unavailable" });
    await proxy.heal();
    await eventually(async () => expect(await colors(db)).toEqual([]));
  });

  it.each(["57P01", "57P02", "57P03", "53300", "08006"])("that reports %s makes queries reject with unavailable", async (code) => {
    await expect(open().query(`do $$ begin raise exception 'away' using errcode = '${code}'; end $$`)).rejects.toMatchObject({
      kind: "unavailable",
    });
  });
});

describe("a statement", () => {
  it("that runs longer than the statement timeout rejects with timeout", async () => {
    await expect(open({ statementTimeoutMs: 50 }).query("select pg_sleep(60)")).rejects.toMatchObject({ kind: "timeout" });
  });

  it("of a transaction with a limit of its own may run longer than those of the pool, here and at the server", async () => {
    const db = open({ statementTimeoutMs: 50 });
    // Beyond the pool's limit and the two seconds that a silent server has.
    const slow = async (limit: number): Promise<object[]> =>
      db.transaction((sql) => sql.query("select true as done from pg_sleep(2.2)"), { statementTimeoutMs: limit });
    expect(await Promise.all([slow(0), slow(60_000)])).toEqual([[{ done: true }], [{ done: true }]]);
    await expect(db.query("select pg_sleep(60)")).rejects.toMatchObject({ kind: "timeout" });
  });

  it("that waits for a lock longer than its timeout rejects with timeout", async () => {
    const db = open({ max: 2 });
    await db.transaction(async (sql) => {
      await sql.query("lock table colors");
      const waiting = db.transaction(async (other) => {
        await other.query("set local lock_timeout = 50");
        await other.query("select from colors");
      });
      await expect(waiting).rejects.toMatchObject({ kind: "timeout" });
    });
  });

  it("counts as the database's failure only beyond the usual time: not where callers wait for each other, or have a limit of their own", async () => {
    const failures: string[] = [];
    const onFailure = (failure: string): void => void failures.push(failure);
    const db = open({ max: 2, onFailure });
    await db.transaction(async (sql) => {
      await sql.query("lock table colors");
      const limits = ["set local lock_timeout = 50", "set local statement_timeout = 50"];
      for (const limit of limits) {
        const waiting = db.transaction(async (other) => {
          await other.query(limit);
          await other.query("select from colors");
        });
        await expect(waiting).rejects.toMatchObject({ kind: "timeout" });
      }
      const limited = db.transaction((other) => other.query("select from colors"), { statementTimeoutMs: 50 });
      await expect(limited).rejects.toMatchObject({ kind: "timeout" });
    });
    const full = open({ max: 1, onFailure });
    await full.transaction(() => expect(full.query("select")).rejects.toMatchObject({ kind: "unavailable" }));
    expect(failures).toEqual(["lock", "timeout", "pool"]);
  });

  it("of a process that falls silent in a transaction holds its locks for at most 15 seconds", async () => {
    expect(await open().query("show idle_in_transaction_session_timeout")).toEqual([{ idle_in_transaction_session_timeout: "15s" }]);
  });

  it("that fails in any way has none of its values in the error", async () => {
    const secret = "hunter2";
    const db = open({ max: 1, statementTimeoutMs: 100 });
    await db.query("set log_parameter_max_length_on_error = -1");
    const failures = await Promise.all([
      db.query("select pg_sleep(60), $1::text", [secret]).catch((error: unknown) => error),
      db.query("select $1::int", [secret]).catch((error: unknown) => error),
      db.query("insert into colors (name) select $1 from generate_series(1, 2)", [secret]).catch((error: unknown) => error),
      db.query("do $$ begin raise exception 'away' using errcode = '57P01', detail = 'hunter2'; end $$").catch((error: unknown) => error),
    ]);
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(Error);
      const thrown = failure as Error;
      const properties = Object.entries(thrown.cause ?? thrown).filter(([name]) => name !== "message");
      expect(JSON.stringify(properties)).not.toContain(secret);
    }
  });

  it("may run for ten seconds by default", async () => {
    expect(await open().query("show statement_timeout")).toEqual([{ statement_timeout: "10s" }]);
  });

  it("that is wrong rejects with Postgres' own error, not with unavailable", async () => {
    await expect(open().query("select * from flavours")).rejects.toMatchObject({ name: "error", code: "42P01" });
  });

  it("with a name is prepared once per connection", async () => {
    const db = open({ max: 1 });
    for (let i = 0; i < 3; i += 1) await db.query({ name: "colors.all", text: "select name from colors" });
    expect(await db.query("select name from pg_prepared_statements")).toEqual([{ name: "colors.all" }]);
  });

  it("that is planned at each call is not prepared", async () => {
    const db = open({ max: 1 });
    await db.query({ name: "colors.all", text: "select name from colors", isPlannedPerCall: true });
    expect(await db.query("select name from pg_prepared_statements")).toEqual([]);
  });
});

it("stop waits for a running query and closes every connection", async () => {
  const db = openPool({ url: database.url, applicationName: "stopping" });
  const running = db.query("select pg_sleep(0.1), 'done' as result");
  await db.stop();
  expect(await running).toMatchObject([{ result: "done" }]);
  const witness = open();
  await eventually(async () => expect(await witness.query("select from pg_stat_activity where application_name = 'stopping'")).toEqual([]));
});
