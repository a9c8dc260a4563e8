import type { Socket } from "node:net";
import { createDatabase, eventually, type TcpProxy, type TestDatabase } from "@brand-records/testkit";
import fc from "fast-check";
import pg from "pg";
import { proxied } from "../test/proxied.ts";
import { isUniqueViolation } from "./errors.ts";
import { openPool, type Database, type PoolOptions, type Transaction } from "./pool.ts";
import { rfc3339FromPostgres } from "./types.ts";

let database: TestDatabase;
/** Distinguishes the sessions of this test. */
let applicationName: string;
let tests = 0;
const opened: { stop(): Promise<void> }[] = [];
const open = (options: Partial<PoolOptions> = {}): Database => {
  const db = openPool({ url: database.url, applicationName, ...options });
  opened.push(db);
  return db;
};

beforeAll(async () => {
  database = await createDatabase("pool");
});
beforeEach(async () => {
  applicationName = `pool test ${(tests += 1)}`;
  const db = open();
  // On a busy machine a connection may take longer than a pool waits for it.
  await eventually(() => db.query("create table if not exists colors (name text primary key); truncate colors"));
});
afterEach(async () => {
  for (const thing of opened.splice(0).toReversed()) await thing.stop();
});
afterAll(() => database.drop());

const colors = async (db: Database) => (await db.query<{ name: string }>("select name from colors order by name")).map(({ name }) => name);

async function behindProxy(options: Partial<PoolOptions> = {}): Promise<{ db: Database; proxy: TcpProxy; lost: Error[] }> {
  const { proxy, url } = await proxied(database.url);
  opened.push(proxy);
  const lost: Error[] = [];
  const db = open({ url, onIdleError: (error) => lost.push(error), ...options });
  return { db, proxy, lost };
}

describe("values", () => {
  it("of timestamptz are RFC 3339 in UTC with milliseconds, from the year 0001 to 9999, whatever the database's time zone and style", async () => {
    const name = new URL(database.url).pathname.slice(1);
    await open().query(`alter database ${name} set timezone = 'Asia/Manila'; alter database ${name} set datestyle = 'German'`);
    const db = open();
    const instant = fc.date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true });
    await fc.assert(
      fc.asyncProperty(fc.array(instant, { minLength: 1, maxLength: 50 }), async (dates) => {
        const expected = dates.map((date) => date.toISOString());
        const rows = await db.query<{ at: string }>(
          "select at from unnest($1::timestamptz(3)[]) with ordinality as given (at, i) order by i",
          [expected],
        );
        expect(rows.map(({ at }) => at)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
    await db.query(`alter database ${name} reset all`);
  });

  it.each([
    ["2026-11-21 08:30:00+00", "2026-11-21T08:30:00.000Z"],
    ["2026-11-21 08:30:00.1+00", "2026-11-21T08:30:00.100Z"],
    ["2026-11-21 08:30:00.12+00", "2026-11-21T08:30:00.120Z"],
    ["2026-11-21 08:30:00.123456+00", "2026-11-21T08:30:00.123Z"],
  ])("rfc3339FromPostgres(%j) is %j", (text, expected) => {
    expect(rfc3339FromPostgres(text)).toBe(expected);
  });

  it("of bigint are returned as numbers, null as null, text arrays as arrays", async () => {
    expect(await open().query("select 9007199254740991::bigint as most, null::bigint as none, array['a', 'b,c'] as texts")).toEqual([
      { most: Number.MAX_SAFE_INTEGER, none: null, texts: ["a", "b,c"] },
    ]);
  });
});

it("survives the loss of a connection in the moment in which it is handed out", async () => {
  const db = open({ max: 1 });
  const { stream } = await db.transaction(async ({ client }) => (client as unknown as { connection: { stream: Socket } }).connection);
  const late = db.transaction((sql) => sql.query("select 1"));
  stream.destroy(new Error("read ECONNRESET"));
  await expect(late).rejects.toMatchObject({ kind: "unavailable" });
  expect(await db.query("select 1 as one")).toEqual([{ one: 1 }]);
});

describe("a filled pool", () => {
  const sessions = async (): Promise<number[]> => {
    const ofPool = "select pid from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid()";
    return (await open({ max: 1, applicationName: "observer" }).query<{ pid: number }>(ofPool, [applicationName])).map(({ pid }) => pid);
  };
  beforeEach(() => (applicationName = `filled ${tests}`));

  it("has all its connections, and has used each", async () => {
    expect(await open({ max: 5 }).fill()).toBe(5);
    expect(await sessions()).toHaveLength(5);
  });

  it("has as many as the database accepts", async () => {
    const name = new URL(database.url).pathname.slice(1);
    const admin = open({ max: 1, applicationName: "observer" });
    await admin.query(`create role limited login password 'x' connection limit 2; grant connect on database ${name} to limited`);
    const db = openPool({
      url: Object.assign(new URL(database.url), { username: "limited", password: "x" }).href,
      applicationName,
      max: 4,
    });
    // Postgres counts those that it is about to refuse too: of four at once it may accept fewer than two.
    const filled = await db.fill();
    expect(await sessions()).toHaveLength(filled);
    expect(filled).toBeLessThanOrEqual(2);
    await db.stop();
    await admin.query(`revoke all on database ${name} from limited; drop role limited`);
  });

  it("opens its connections again by itself when the database is back", async () => {
    const { db, proxy, lost } = await behindProxy({ max: 3 });
    expect(await db.fill()).toBe(3);
    await proxy.cut();
    await eventually(async () => expect([lost.length, await sessions()]).toEqual([3, []]));
    await proxy.heal();
    await eventually(async () => expect(await sessions()).toHaveLength(3));
  });

  it("uses none of its connections again when the server has ended one: the others lead to the same server", async () => {
    const lost: Error[] = [];
    const db = open({ max: 3, onIdleError: (error) => lost.push(error) });
    expect(await db.fill()).toBe(3);
    const before = await sessions();
    await open({ applicationName: "observer" }).query("select pg_terminate_backend($1)", [before[0]]);
    await eventually(() => expect(lost).toHaveLength(1));
    const used = await Promise.all(Array.from({ length: 3 }, () => db.query<{ pid: number }>("select pg_backend_pid() as pid")));
    expect(used.flat().filter(({ pid }) => before.includes(pid))).toEqual([]);
    await eventually(async () => expect((await sessions()).filter((pid) => before.includes(pid))).toEqual([]));
  });

  it("is empty if the database is away, and no error ends the process", async () => {
    const { db, proxy } = await behindProxy({ max: 2 });
    await proxy.cut();
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

  it("rolls back all that was sent together when one fails, and rejects with its error, which alone says whether the database failed", async () => {
    const failures: string[] = [];
    const db = open({ max: 1, onFailure: (failure) => failures.push(failure) });
    const insert = "insert into colors values ('violet')";
    const work = db.transaction((sql) => Promise.all([insert, insert, "select from colors"].map((text) => sql.query(text))), {
      locksFirst: true,
    });
    expect(isUniqueViolation(await work.catch((thrown: unknown) => thrown))).toBe(true);
    expect(failures).toEqual([]);
    expect(await colors(db)).toEqual([]);
  });

  it("runs nothing behind its locks when the begin alone has failed", async () => {
    const db = open({ max: 1 });
    await db.query("select");
    const { query } = pg.Client.prototype;
    const cancelled = Object.assign(new Error("canceling statement due to user request"), { code: "57014" });
    const spy = jest.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
      const isBegin = (args[0] as { text?: string }).text === "begin";
      return isBegin ? Promise.reject(cancelled) : (query as (...all: unknown[]) => unknown).apply(this, args);
    });
    try {
      const work = async (sql: Transaction): Promise<void> => {
        await sql.query("select from colors for update");
        await sql.query("insert into colors values ('violet')");
      };
      await expect(db.transaction(work, { locksFirst: true })).rejects.toMatchObject({ kind: "timeout" });
    } finally {
      spy.mockRestore();
    }
    expect(await colors(db)).toEqual([]);
  });

  it.each<[string, (sql: Transaction, proxy: TcpProxy) => Promise<unknown>]>([
    ["in a statement", (sql, proxy) => proxy.cut().then(() => sql.query("insert into colors values ('teal')"))],
    ["between statements", (sql, proxy) => Promise.all([new Promise((resolve) => sql.client.once("end", resolve)), proxy.cut()])],
  ])("whose connection is lost %s rejects with unavailable and keeps nothing, and the pool reconnects", async (_, lose) => {
    const { db, proxy } = await behindProxy({ max: 1 });
    const work = db.transaction(async (sql) => {
      await sql.query("insert into colors values ('violet')");
      await lose(sql, proxy);
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

  it("that falls silent before a connection, during a query or during a transaction makes it reject; the connection is not used again", async () => {
    const works: ((db: Database, proxy: TcpProxy) => Promise<unknown>)[] = [
      (db, proxy) => proxy.blackhole().then(() => colors(db)),
      (db, proxy) => colors(db).then(() => proxy.blackhole().then(() => colors(db))),
      (db, proxy) => db.transaction((sql) => sql.query("select 1").then(() => proxy.blackhole().then(() => sql.query("select 1")))),
    ];
    const meetSilence = async (work: (typeof works)[number]): Promise<void> => {
      const { db, proxy } = await behindProxy({ max: 1, statementTimeoutMs: 200 });
      await expect(work(db, proxy)).rejects.toMatchObject({ kind: "unavailable" });
      await proxy.heal();
      await eventually(async () => expect(await colors(db)).toEqual([]));
    };
    await Promise.all(works.map(meetSilence));
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

  it("may run for ten seconds by default; a process that falls silent in a transaction holds its locks for 15", async () => {
    const shown = "select current_setting('statement_timeout') as run, current_setting('idle_in_transaction_session_timeout') as idle";
    expect(await open().query(shown)).toEqual([{ run: "10s", idle: "15s" }]);
  });

  it("that is wrong rejects with Postgres' own error, not with unavailable", async () => {
    await expect(open().query("select * from flavours")).rejects.toMatchObject({ name: "error", code: "42P01" });
  });

  it("with a name is prepared once per connection, unless it is planned at each call", async () => {
    const db = open({ max: 1 });
    for (let i = 0; i < 3; i += 1) await db.query({ name: "colors.all", text: "select name from colors" });
    await db.query({ name: "colors.planned", text: "select name from colors", isPlannedPerCall: true });
    expect(await db.query("select name from pg_prepared_statements")).toEqual([{ name: "colors.all" }]);
  });
});

describe("a pool whose connections lead to a server that has become read-only", () => {
  const CONNECTIONS = 3;
  const INSERT = "insert into colors values ('red')";
  let db: Database;
  let failures: string[];
  let waits: number[];
  beforeEach(() => {
    [failures, waits] = [[], []];
    db = open({ max: CONNECTIONS, onFailure: (failure) => failures.push(failure), onWait: (seconds) => waits.push(seconds) });
  });

  /** Runs a statement on every connection of the pool at the same time, and returns their process ids. */
  async function onEachConnection(statement: string): Promise<number[]> {
    const all = Promise.withResolvers<void>();
    let reached = 0;
    const one = (): Promise<number> =>
      db.transaction(async (sql) => {
        await sql.query(statement);
        const [row] = await sql.query<{ pid: number }>("select pg_backend_pid() as pid");
        reached += 1;
        if (reached === CONNECTIONS) all.resolve();
        await all.promise;
        return row?.pid ?? 0;
      });
    return Promise.all(Array.from({ length: CONNECTIONS }, one));
  }

  it.each<[string, () => Promise<unknown>]>([
    ["statement", () => db.query(INSERT)],
    ["transaction", () => db.transaction((sql) => sql.query(INSERT))],
  ])("uses none of them after a %s that met it", async (_, write) => {
    // What a failover leaves: these connections are read-only, new ones are not.
    const before = await onEachConnection("select set_config('default_transaction_read_only', 'on', false)");
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
});

it("stop waits for a running query and closes every connection", async () => {
  const db = openPool({ url: database.url, applicationName: "stopping" });
  const running = db.query("select pg_sleep(0.1), 'done' as result");
  await db.stop();
  expect(await running).toMatchObject([{ result: "done" }]);
  const witness = open();
  await eventually(async () => expect(await witness.query("select from pg_stat_activity where application_name = 'stopping'")).toEqual([]));
});
