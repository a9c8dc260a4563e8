import { openPool, type Database } from "@brand-records/postgres";
import { openLog, type Logger } from "@brand-records/telemetry";
import { eventually, startTcpProxy, type TcpProxy } from "@brand-records/testkit";
import type { ServerResponse } from "node:http";
import { startReceivingServer, type ReceivingServer } from "../../test/receiving-server.ts";
import { useSending, type MadeReceiver } from "../../test/serve-sending.ts";
import { endExpiredLeases } from "./expired-leases.ts";
import type { Sender } from "./sender.ts";

/** Stopping a sender while its Postgres is unavailable. */

let logged: Record<string, unknown>[];
const record = (fields: Record<string, unknown>, message: string): void => void logged.push({ ...fields, message });
const sending = useSending(Object.assign(Object.create(openLog("webhook", "silent")) as Logger, { warn: record, error: record }));
let server: ReceivingServer;
let proxy: TcpProxy;
let proxied: Database;
/** Responses of attempts in flight. */
let responses: ServerResponse[];
beforeEach(async () => {
  [logged, responses] = [[], []];
  server = await startReceivingServer((response) => void responses.push(response));
  const url = new URL(sending.databaseUrl);
  proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = `127.0.0.1:${proxy.port}`;
  proxied = openPool({ url: url.href, applicationName: "sending behind a proxy" });
});
afterEach(async () => {
  await server.stop();
  await proxy.stop();
  await proxied.stop();
});

/** Starts a sender with eight attempts in flight. */
async function startBehindProxy(): Promise<{ sender: Sender; receiver: MadeReceiver }> {
  const receiver = await sending.createReceiver(server.url);
  await sending.deliver([receiver], 8);
  const sender = sending.start({ db: proxied });
  await eventually(() => expect(responses.length).toBe(8));
  return { sender, receiver };
}

const past = ({ id }: MadeReceiver) => sending.db.query("select state, attempts from webhook.past_deliveries where receiver_id = $1", [id]);
const unwritten = () => logged.filter(({ message }) => message === "result not written: the delivery continues when its lease expires");

it.each<[string, () => Promise<void>]>([
  ["refuses connections", () => proxy.cut()],
  ["is silent", () => proxy.blackhole()],
])("stops while Postgres %s, logs the unwritten results, and other senders take over", async (_, fail) => {
  const { sender, receiver } = await startBehindProxy();
  await fail();
  const stopping = sender.stop();
  for (const response of responses) response.writeHead(204).end();
  await stopping;
  const rows = await sending.db.query<{ id: string }>("select id from webhook.deliveries where state = 'sending' order by id");
  expect(rows).toHaveLength(8);
  expect(new Set(unwritten().map(({ delivery_id }) => delivery_id))).toEqual(new Set(rows.map(({ id }) => id)));
  expect(unwritten()[0]).toMatchObject({ receiver_id: receiver.id, attempt: 1, outcome: "accepted", http_status: 204 });

  await sending.db.query("update webhook.deliveries set lease_until = now() - interval '1 s'");
  expect(await endExpiredLeases(sending.db, { leaseSeconds: 30, attemptsMax: 10 })).toEqual({ pending: 8, failed: 0, removed: 0 });
  server.respond = (response) => response.writeHead(204).end();
  sending.start();
  await eventually(async () =>
    expect(await past(receiver)).toEqual(Array.from({ length: 8 }, () => ({ state: "delivered", attempts: 2 }))),
  );
});

it("writes every result if Postgres recovers while it stops", async () => {
  const { sender, receiver } = await startBehindProxy();
  await proxy.cut();
  const stopping = sender.stop();
  for (const response of responses) response.writeHead(204).end();
  await eventually(() => expect(logged).toContainEqual(expect.objectContaining({ message: "results cannot be written" })));
  await proxy.heal();
  await stopping;
  expect(unwritten()).toEqual([]);
  expect(await past(receiver)).toEqual(Array.from({ length: 8 }, () => ({ state: "delivered", attempts: 1 })));
});

it("returns deliveries it claimed too late to send, without counting the attempt", async () => {
  const receiver = await sending.createReceiver(server.url);
  await sending.deliver([receiver], 3);
  const states = () => sending.db.query("select state, attempt from webhook.deliveries");
  const untouched = Array.from({ length: 3 }, () => ({ state: "pending", attempt: 0 }));
  let sender: Sender | undefined;
  await sending.db.transaction(async (sql) => {
    // The claim waits for this lock and continues after the sender has stopped.
    await sql.query("lock table webhook.lanes in exclusive mode");
    sender = sending.start();
    // Tables of other tests' databases have the same numbers.
    const waiting = `select from pg_locks where relation = 'webhook.lanes'::regclass and not granted
      and database = (select oid from pg_database where datname = current_database())`;
    await eventually(async () => expect(await sending.db.query(waiting)).not.toEqual([]));
    await sender.stop();
  });
  // The claim has come to its end, and its deliveries were returned.
  const lane = "select in_flight, last_served > '-infinity' as served from webhook.lanes";
  await eventually(async () => expect(await sending.db.query(lane)).toEqual([{ in_flight: 0, served: true }]));
  expect(await states()).toEqual(untouched);
  expect(responses).toEqual([]);
});
