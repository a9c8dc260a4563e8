import { createDatabase, startTcpProxy, type TcpProxy, type TestDatabase } from "@brand-records/testkit";
import { openSession, type Session } from "./session.ts";

let database: TestDatabase;
let proxy: TcpProxy;
beforeEach(async () => {
  database = await createDatabase("session");
  const { hostname, port } = new URL(database.url);
  proxy = await startTcpProxy({ host: hostname, port: Number(port) });
});
afterEach(async () => {
  await proxy.stop();
  await database.drop();
});

const open = (): Promise<Session> => {
  const url = new URL(database.url);
  url.host = `127.0.0.1:${proxy.port}`;
  return openSession({ url: url.href, applicationName: "session test", idleTimeoutMs: 30_000 });
};

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
