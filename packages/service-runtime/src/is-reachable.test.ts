import { randomBytes } from "node:crypto";
import { openPool, type Database } from "@brand-records/postgres";
import { createDatabase, eventually, type TestDatabase } from "@brand-records/testkit";
import { isReachable } from "./is-reachable.ts";

const CONNECTIONS = 2;

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase("empty");
  db = openPool({ url: database.url, max: CONNECTIONS, applicationName: "is reachable test" });
});
afterAll(async () => {
  await db.stop();
  await database.drop();
});

/** The probe's own time is for a machine that does nothing else. */
const TIMEOUT_MS = 20_000;
const NOTHING_LISTENS = "postgresql://127.0.0.1:1/none";

/** Runs `work` while every connection of the pool waits for a lock. */
async function whileBusy(work: () => Promise<void>): Promise<void> {
  const elsewhere = openPool({ url: database.url, max: 1, applicationName: "elsewhere" });
  const waiting = await elsewhere.transaction(async (sql) => {
    await sql.query("select pg_advisory_xact_lock(1)");
    const statements = Array.from({ length: CONNECTIONS }, () => db.query("select pg_advisory_xact_lock(1)"));
    await eventually(() => expect(db.state().used).toBe(CONNECTIONS));
    await work();
    return statements;
  });
  await Promise.all(waiting);
  await elsewhere.stop();
}

it("is true while requests hold every connection", () =>
  whileBusy(async () => {
    await expect(isReachable(db, database.url, TIMEOUT_MS)).resolves.toBe(true);
  }));

it("is false then if the database takes no connection", () =>
  whileBusy(async () => {
    await expect(isReachable(db, NOTHING_LISTENS, TIMEOUT_MS)).resolves.toBe(false);
  }));

it("is true then if the server has no connection left", async () => {
  const name = `busy_${randomBytes(6).toString("hex")}`;
  await db.query(`create role ${name} login password '${name}' connection limit ${CONNECTIONS}`);
  const url = Object.assign(new URL(database.url), { username: name, password: name }).href;
  const busy = openPool({ url, max: CONNECTIONS, applicationName: "busy" });
  await expect(busy.fill()).resolves.toBe(CONNECTIONS);
  const others = openPool({ url, max: CONNECTIONS, applicationName: "others" });
  // With a connection of its own in use it is busy; without any, the server's refusal is all that it has.
  await busy.transaction(() =>
    busy.transaction(async () => {
      await expect(isReachable(busy, url, TIMEOUT_MS)).resolves.toBe(true);
      await expect(isReachable(others, url, TIMEOUT_MS)).resolves.toBe(false);
    }),
  );
  await Promise.all([busy.stop(), others.stop()]);
  await db.query(`drop role ${name}`);
});

it("is true while nothing is asked for", async () => {
  await expect(isReachable(db, database.url, TIMEOUT_MS)).resolves.toBe(true);
});
