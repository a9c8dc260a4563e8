import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { openPool, type Database } from "@brand-records/postgres";
import { createDatabase, eventually } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { Webhook } from "standardwebhooks";
import { metricsOf } from "../admin-port.ts";
import { addressSettings, brandctl } from "../command-line.ts";
import { startReceivers, type ReceivedRequest, type ReceiverServer } from "../receivers.ts";
import { callContext, startStack, type Secret, type Stack, type TestBrand } from "../stack.ts";
import { approveNew } from "../submissions.ts";

/** One promise: a brand's receivers get every event, signed, when and where the brand wants it. */

let stack: Stack;
let brand: TestBrand;
let db: Database;
let server: ReceiverServer;
let requests: readonly ReceivedRequest[];
let respond: (response: ServerResponse) => void;

beforeAll(async () => {
  server = await startReceivers((_, response) => {
    respond(response);
  });
  ({ requests } = server);
  stack = await startStack({
    // Empty: the services migrate it at their start, all at the same time.
    database: await createDatabase("empty"),
    kafkaBrokers: process.env["TEST_KAFKA_BROKERS"] ?? "",
    redisUrl: process.env["TEST_REDIS_URL"] ?? "",
    env: { RECEIVERS_ON_LOOPBACK: "true", RETRY_DELAYS_SECONDS: "0.1,0.1,0.1", LOG_LEVEL: "trace" },
  });
  db = openPool({ url: stack.databaseUrl, applicationName: "platform" });
});
beforeEach(async () => {
  server.requests.length = 0;
  respond = (response) => response.writeHead(204).end();
  brand = await stack.createBrand();
});
afterAll(async () => {
  await db.stop();
  await stack.stop();
  server.stop();
});

let paths = 0;
const register = (path = `hook/${(paths += 1)}`): Promise<Secret> => stack.addReceiver(brand, server.url + path, ["submission.approved"]);

const approve = (count?: number): Promise<string[]> => approveNew(db, brand.id, count);

interface Event {
  readonly id: string;
  readonly data: { readonly id: string };
}

const eventIn = ({ body }: ReceivedRequest): Event => JSON.parse(body) as Event;
const recordIds = (): string[] => requests.map((request) => eventIn(request).data.id);
const key = (receiver: Secret) => ({ brand_id: brand.id, receiver_id: receiver.id });
const deliveriesOf = async (receiver: Secret, state: string | null = null) =>
  (await stack.deliveries.listDeliveries({ ...key(receiver), state, states: [], page_size: 200, after_id: null }, callContext()))
    .deliveries;

it("lets the owners that accounts knows change receivers, and no other member, from the moment of a change", async () => {
  const email = "ben@ulap.example";
  const receiver = await register();
  await stack.accounts.addMember({ brand_id: brand.id, email, role: "member" }, callContext());
  const session = { token: await stack.newSession(email), with_grants: true, brand_id: brand.id };
  const { grants } = await stack.sessions.getSession(session, callContext());
  const sendTest = () => stack.receivers.sendTest({ ...key(receiver), next: false }, { ...callContext(), grants });
  await expect(sendTest()).rejects.toMatchObject({ kind: "owner_required" });
  await stack.accounts.addMember({ brand_id: brand.id, email, role: "owner" }, callContext());
  const { delivery_id } = await sendTest();
  await eventually(() => expect(requests).toHaveLength(1));
  const shown = await stack.deliveries.getDelivery({ brand_id: brand.id, delivery_id }, callContext());
  expect(Buffer.from(shown.body ?? []).toString()).toBe(requests[0]?.body);
  await stack.accounts.addMember({ brand_id: brand.id, email, role: "member" }, callContext());
  await expect(sendTest()).rejects.toMatchObject({ kind: "owner_required" });
});

it("delivers an approval, signed, and records its delivery", async () => {
  const receiver = await register();
  const [id] = await approve();
  await eventually(() => expect(recordIds()).toEqual([id]));
  const [{ headers, body }] = requests as [ReceivedRequest];
  const event = eventIn(requests[0] as ReceivedRequest);
  expect(event).toMatchObject({ type: "submission.approved", test: false, data: { id, status: "approved" } });
  expect(new Webhook(receiver.secret).verify(body, headers as Record<string, string>)).toEqual(event);
  const digest = createHmac("sha256", receiver.secret)
    .update(`${String(headers["x-service-timestamp"])}.${body}`)
    .digest("hex");
  expect(headers["x-service-signature"]).toBe(`sha256=${digest}`);
  const delivery = await eventually(async () => {
    const [only] = await deliveriesOf(receiver, "delivered");
    expect(only).toBeDefined();
    return only;
  });
  const { attempts } = await stack.deliveries.getDelivery({ brand_id: brand.id, delivery_id: delivery?.id ?? "" }, callContext());
  expect(attempts).toMatchObject([{ attempt: 1, outcome: "accepted", http_status: 204 }]);
  const { receiver: now } = await stack.receivers.getReceiver(key(receiver), callContext());
  expect(now).toMatchObject({ last_status: 204, failures: 0, waiting: 0, last_delivery_at: expect.any(String) });
});

it("signs deliveries with both secrets until the new one is activated, which waits for a test that it alone signed", async () => {
  const receiver = await register();
  const { secret: next } = await stack.receivers.rotateSecret(key(receiver), callContext());
  const verifies = ({ body, headers }: ReceivedRequest, secret: string): boolean => {
    try {
      return new Webhook(secret).verify(body, headers as Record<string, string>) !== undefined;
    } catch {
      return false;
    }
  };
  await approve();
  await eventually(() => expect(requests).toHaveLength(1));
  expect([receiver.secret, next].map((secret) => verifies(requests[0] as ReceivedRequest, secret))).toEqual([true, true]);
  const activate = () => stack.receivers.activateSecret({ ...key(receiver), force: false }, callContext());
  await expect(activate()).rejects.toMatchObject({ kind: "next_secret_not_accepted" });
  await stack.receivers.sendTest({ ...key(receiver), type: null, next: true }, callContext());
  await eventually(activate);
  await approve();
  await eventually(() => expect(requests).toHaveLength(3));
  for (const request of requests.slice(1))
    expect([receiver.secret, next].map((secret) => verifies(request, secret))).toEqual([false, true]);
});

it("sends a test event like any other, and changes only the receiver's last status", async () => {
  const receiver = await register();
  respond = (response) => response.writeHead(500).end();
  const { event_id } = await stack.receivers.sendTest({ ...key(receiver), type: null, next: false }, callContext());
  await eventually(() => expect(requests).toHaveLength(4));
  expect(eventIn(requests[0] as ReceivedRequest)).toMatchObject({ id: event_id, test: true, data: { id: "sub_test" } });
  expect(() => new Webhook(receiver.secret).verify(requests[0]?.body ?? "", requests[0]?.headers as Record<string, string>)).not.toThrow();
  await eventually(async () => {
    const { receiver: now } = await stack.receivers.getReceiver(key(receiver), callContext());
    expect(now).toMatchObject({ last_status: 500, failures: 0, enabled: true });
  });
});

it("holds a disabled receiver's deliveries, and releases or drops them when it is enabled", async () => {
  const receiver = await register();
  await stack.receivers.disableReceiver(key(receiver), callContext());
  const held = await approve(3);
  await eventually(async () => expect(await deliveriesOf(receiver, "held")).toHaveLength(3));
  expect(requests).toEqual([]);
  await stack.receivers.enableReceiver({ ...key(receiver), held: "release" }, callContext());
  await eventually(() => expect(recordIds().toSorted()).toEqual(held.toSorted()));

  await stack.receivers.disableReceiver(key(receiver), callContext());
  await approve(3);
  await eventually(async () => expect(await deliveriesOf(receiver, "held")).toHaveLength(3));
  expect(await stack.receivers.enableReceiver({ ...key(receiver), held: "drop" }, callContext())).toMatchObject({ dropped: 3 });
  const [after] = await approve();
  await eventually(() => expect(recordIds()).toContain(after));
  expect(requests).toHaveLength(4);
});

it("sends nothing more to a deleted receiver, and deletes its deliveries", async () => {
  const waiting: ServerResponse[] = [];
  respond = (response) => void waiting.push(response);
  const receiver = await register();
  await approve(30);
  await eventually(() => expect(waiting.length).toBeGreaterThanOrEqual(8));
  await stack.receivers.deleteReceiver(key(receiver), callContext());
  const sent = requests.length;
  respond = (response) => response.writeHead(204).end();
  for (const response of waiting) response.writeHead(204).end();
  await eventually(async () => expect(await db.query("select from webhook.deliveries where receiver_id = $1", [receiver.id])).toEqual([]));
  expect(requests).toHaveLength(sent);
});

it("replays one delivery, or all since a time; the command that brandctl then prints follows that replay, and sends nothing twice", async () => {
  const receiver = await register();
  const since = new Date(Date.now() - 1_000).toISOString();
  const ids = await approve(20);
  await eventually(async () => expect(await deliveriesOf(receiver, "delivered")).toHaveLength(20));
  const [delivery] = await deliveriesOf(receiver);
  await stack.deliveries.replayDelivery({ brand_id: brand.id, delivery_id: delivery?.id ?? "" }, callContext());
  await eventually(() => expect(requests).toHaveLength(21));
  expect(eventIn(requests[20] as ReceivedRequest).id).toBe(delivery?.event_id);
  expect(requests[20]?.headers["x-service-attempt"]).toBe("1");

  const env = addressSettings(stack.addresses);
  const { stderr } = await brandctl(["deliveries", "replay", "--receiver", receiver.id, "--since", since], { env });
  await eventually(() => expect(requests).toHaveLength(41));
  expect(recordIds().slice(21).toSorted()).toEqual(ids.toSorted());
  const [, printed = ""] = /To follow it: brandctl (.*)/.exec(stderr) ?? [];
  for (let time = 0; time < 2; time += 1) {
    const { stdout } = await brandctl([...printed.split(" "), "--json"], { env });
    expect(JSON.parse(stdout)).toMatchObject({ replay: { queued: 20, total: 20, finished_at: expect.any(String) } });
  }
  await eventually(async () => expect(await deliveriesOf(receiver, "delivered")).toHaveLength(41));
  expect(requests).toHaveLength(41);
});

it("shares deliveries between two workers, and attempts none twice when one stops", async () => {
  await register();
  const another = await stack.startAnother("webhook");
  respond = (response) => setTimeout(() => response.writeHead(204).end(), 20);
  const ids = await approve(300);
  await eventually(() => expect(requests.length).toBeGreaterThan(20));
  // The first worker may have leased them all before the second polls.
  await eventually(
    async () => {
      if (!another.output().includes("delivery attempted")) ids.push(...(await approve(20)));
      expect(another.output()).toContain("delivery attempted");
    },
    { everyMs: 200 },
  );
  expect(await another.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  await eventually(() => expect(new Set(recordIds()).size).toBe(ids.length), { timeoutMs: 20_000 });
  await eventually(async () => expect(await db.query("select from webhook.deliveries")).toEqual([]));
  expect(requests).toHaveLength(ids.length);
  expect(new Set(recordIds())).toEqual(new Set(ids));
});

it("keeps secrets, and receivers' paths and queries, out of logs and metrics, whether attempts succeed or fail", async () => {
  const [path, token, unreachable] = [`path-${newId("x")}`, `token-${newId("x")}`, `unreachable-${newId("x")}`];
  const receiver = await register(`${path}?token=${token}`);
  const closed = {
    brand_id: brand.id,
    url: `http://127.0.0.1:1/${unreachable}?token=${token}`,
    label: "Unreachable",
    events: ["submission.approved"],
  };
  const { secret: otherSecret } = await stack.receivers.createReceiver(closed, callContext());
  const { secret: nextSecret } = await stack.receivers.rotateSecret(key(receiver), callContext());
  respond = (response) => (requests.length % 2 === 0 ? response.socket?.resetAndDestroy() : response.writeHead(500).end());
  // Two suffice: ten consecutive failures would open the circuit for five seconds.
  await approve(2);
  const over = "select from webhook.past_deliveries where brand_id = $1 and state = 'failed'";
  await eventually(async () => expect(await db.query(over, [brand.id])).toHaveLength(4), { timeoutMs: 20_000 });
  const refused = stack.receivers.createReceiver({ ...closed, url: `https://127.0.0.2/${path}?token=${token}#x` }, callContext());
  const problem = await refused.then(
    () => "",
    (error: Error) => JSON.stringify(error) + error.message,
  );
  const metrics = await metricsOf(stack.processes.webhook);
  const output = [problem, metrics, ...Object.values(stack.processes).map((process) => process.output())].join("\n");
  expect([output.includes("delivery attempted"), output.includes(receiver.id)]).toEqual([true, true]);
  const secrets = [receiver.secret, otherSecret, nextSecret].flatMap((each) => [each, each.slice("whsec_".length)]);
  for (const marker of [path, token, unreachable, ...secrets]) expect(output.includes(marker)).toBe(false);
});
