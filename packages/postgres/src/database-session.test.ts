import { createDatabase, type TcpProxy, type TestDatabase } from "@brand-records/testkit";
import pg from "pg";
import { proxied } from "../test/proxied.ts";
import { openDatabaseSession, type DatabaseSession } from "./database-session.ts";

let database: TestDatabase;
let proxy: TcpProxy;
let url: string;
beforeAll(async () => {
  database = await createDatabase("empty");
});
beforeEach(async () => {
  ({ proxy, url } = await proxied(database.url));
});
afterEach(() => proxy.stop());
afterAll(() => database.drop());

const open = (idleTimeoutMs = 30_000): Promise<DatabaseSession> =>
  openDatabaseSession({ url, applicationName: "session test", idleTimeoutMs });

it("stops even if the server no longer responds", async () => {
  for (const fail of [async () => {}, () => proxy.blackhole()]) {
    const session = await open();
    await fail();
    await session.stop();
    await session.ended;
  }
});

it("is refused if the server does not respond", async () => {
  await proxy.blackhole();
  await expect(open()).rejects.toMatchObject({ kind: "unavailable" });
});

it("gives pg one statement at a time, and no keepalive during a statement: pg 9 will not queue them", async () => {
  const session = await open(2_000);
  const sent = jest.spyOn(pg.Client.prototype, "query");
  try {
    // Two keepalives are due during the first.
    const first = session.query("select 1 as n from pg_sleep(1.2)").then((rows) => ({ rows, sent: sent.mock.calls.length }));
    const results = await Promise.all([first, session.query("select 2 as n")]);
    expect(results).toEqual([{ rows: [{ n: 1 }], sent: 1 }, [{ n: 2 }]]);
  } finally {
    sent.mockRestore();
    await session.stop();
  }
});
