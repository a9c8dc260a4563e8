import { execFile } from "node:child_process";
import { createHmac, timingSafeEqual } from "node:crypto";
import type { ServerResponse } from "node:http";
import { promisify } from "node:util";
import { openLog } from "@brand-records/telemetry";
import { eventually, losingCommitAnswer } from "@brand-records/testkit";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { resultOf } from "../../test/attempt-result.ts";
import { startReceivingServer, type ReceivedRequest, type ReceivingServer } from "../../test/receiving-server.ts";
import { useSending, type MadeReceiver } from "../../test/serve-sending.ts";
import { claimDeliveries, type ClaimedDelivery } from "../storage/claims.ts";
import { ensureDays } from "../storage/daily-partitions.ts";
import { findReceiver } from "../storage/receivers.ts";
import { endExpiredLeases } from "./expired-leases.ts";
import { writeResults } from "../use-cases/write-results.ts";

const sending = useSending();
let servers: { stop(): Promise<void> }[];
beforeEach(() => {
  servers = [];
});
// Stopping the receivers ends attempts that hang.
afterEach(() => Promise.all(servers.map((server) => server.stop())));

async function receiving(...args: Parameters<typeof startReceivingServer>): Promise<ReceivingServer> {
  const server = await startReceivingServer(...args);
  servers.push(server);
  return server;
}

const lane = async ({ id }: MadeReceiver) => {
  const [row] = await sending.db.query<Record<string, unknown>>(
    "select in_flight, max_in_flight, failed_in_a_row, trips, failures, last_status, last_outcome, next_due::text, held from webhook.lanes where receiver_id = $1",
    [id],
  );
  return row;
};
const open = async () => (await sending.db.query("select from webhook.deliveries")).length;
const past = ({ id }: MadeReceiver) =>
  sending.db.query<{ state: string; attempts: number }>(
    "select state, attempts from webhook.past_deliveries where receiver_id = $1 order by id",
    [id],
  );

const pausedUntil = async ({ brand, id }: MadeReceiver) =>
  (await findReceiver(sending.db, { brandId: brand, receiverId: id }))?.paused_until;

/** Verifies as the specification says (6.3), independently of our code. */
function verify(secret: string, { headers, rawBody }: ReceivedRequest): boolean {
  const timestamp = String(headers["x-service-timestamp"]);
  const signature = /^sha256=([0-9a-f]{64})$/.exec(String(headers["x-service-signature"]))?.[1];
  if (!/^\d+$/.test(timestamp) || signature === undefined) return false;
  if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > 300) return false;
  const digest = createHmac("sha256", secret).update(`${timestamp}.`).update(rawBody).digest();
  return timingSafeEqual(digest, Buffer.from(signature, "hex"));
}

/** Runs in a separate process: the library is an ES module, which jest cannot load. */
async function verifyWithSvix(secret: string, { headers, rawBody }: ReceivedRequest): Promise<string> {
  const script = `import { Webhook } from "svix";
    const { secret, body, headers } = JSON.parse(process.argv[1]);
    try {
      new Webhook(secret).verify(body, headers);
      process.stdout.write("verified");
    } catch (error) {
      process.stdout.write(error.message);
    }`;
  const argument = JSON.stringify({ secret, body: rawBody.toString(), headers });
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script, argument]);
  return stdout;
}

it("signs by its clock, the database's, whatever this machine's shows", async () => {
  const server = await receiving((response) => response.writeHead(503).end());
  const receiver = await sending.createReceiver(server.url);
  await sending.deliver([receiver]);
  sending.start({ clock: { now: () => Date.now() - 600_000 }, retryDelaysSeconds: [0, 0] });
  // The first attempt and the retries.
  await eventually(() => expect(server.requests).toHaveLength(3));
  for (const { headers } of server.requests) {
    for (const name of ["x-service-timestamp", "webhook-timestamp"]) {
      expect(Math.abs(Date.now() - 600_000 - Number(headers[name]) * 1_000)).toBeLessThan(300_000);
    }
  }
});

it("delivers an event with signatures that the specification's check and the libraries of Standard Webhooks and Svix accept", async () => {
  const server = await receiving();
  const receiver = await sending.createReceiver(server.url);
  const [event] = await sending.deliver([receiver]);
  sending.start();
  await eventually(() => expect(server.requests).toHaveLength(1));
  const [request] = server.requests as [ReceivedRequest];
  expect(request.headers).toMatchObject({
    "content-type": "application/json",
    "user-agent": "BrandRecords-Webhooks/1.0",
    "x-service-event": "submission.approved",
    "x-service-attempt": "1",
    "webhook-id": event?.id,
  });
  expect(request.body).toEqual({
    id: event?.id,
    type: "submission.approved",
    created_at: event?.created_at,
    brand_id: receiver.brand,
    test: false,
    dashboard_url: `https://brand-records.example/developers/events/${event?.id}`,
    data: { resource: "submissions", id: "sub_1", number: 0 },
  });
  expect(verify(receiver.secret, request)).toBe(true);
  expect(verify(`${receiver.secret}x`, request)).toBe(false);
  const headers = request.headers as Record<string, string>;
  expect(new StandardWebhook(receiver.secret).verify(request.rawBody.toString(), headers)).toEqual(request.body);
  expect(await verifyWithSvix(receiver.secret, request)).toBe("verified");
  expect(await verifyWithSvix(`whsec_${Buffer.alloc(32).toString("base64")}`, request)).toBe("No matching signature found");
  await eventually(async () => expect(await past(receiver)).toEqual([{ state: "delivered", attempts: 1 }]));
  expect(await open()).toBe(0);
  expect(await lane(receiver)).toMatchObject({ in_flight: 0, last_status: 204, last_outcome: "accepted", failures: 0 });
});

it("retries with the same id and body, the next attempt number and a new signature, until it is accepted", async () => {
  const server = await receiving((response) => response.writeHead(500).end("out of order"));
  const receiver = await sending.createReceiver(server.url);
  await sending.deliver([receiver]);
  sending.start({ retryDelaysSeconds: [0.05, 0.05, 0.05] });
  await eventually(() => expect(server.requests.length).toBeGreaterThanOrEqual(2));
  server.respond = (response) => response.writeHead(200).end("thanks");
  await eventually(async () => expect((await past(receiver))[0]).toMatchObject({ state: "delivered" }));
  const attempts = await sending.attemptsOf(receiver);
  expect(attempts.at(0)).toMatchObject({ attempt: 1, outcome: "refused", http_status: 500, error: "responded with 500" });
  expect(attempts.at(0)?.response?.toString()).toBe("out of order");
  expect(attempts.at(-1)).toMatchObject({ outcome: "accepted", http_status: 200 });
  expect(new Set(server.requests.map(({ rawBody }) => rawBody.toString())).size).toBe(1);
  expect(server.requests.map(({ headers }) => headers["x-service-attempt"])).toEqual(server.requests.map((_, index) => String(index + 1)));
  for (const request of server.requests) expect(verify(receiver.secret, request)).toBe(true);
});

it("fails a delivery after its last attempt, and continues with the next", async () => {
  const server = await receiving((response, { body }) => response.writeHead(body.data["number"] === 0 ? 500 : 200).end());
  const receiver = await sending.createReceiver(server.url);
  await sending.deliver([receiver], 2);
  sending.start({ retryDelaysSeconds: [0, 0] });
  await eventually(async () =>
    expect(await past(receiver)).toEqual([
      { state: "failed", attempts: 3 },
      { state: "delivered", attempts: 1 },
    ]),
  );
});

it("judges a response of 100 MB by its status, keeps its beginning, and does not wait for the rest", async () => {
  const megabyte = Buffer.alloc(1024 * 1024, "x");
  const server = await receiving((response) => {
    response.writeHead(200);
    let sent = 0;
    const more = (): void => {
      while (sent < 100 && response.write(megabyte)) sent += 1;
      if (sent < 100) response.once("drain", more);
      else response.end();
    };
    more();
  });
  const receiver = await sending.createReceiver(server.url);
  await sending.deliver([receiver]);
  sending.start();
  await eventually(async () => expect(await past(receiver)).toEqual([{ state: "delivered", attempts: 1 }]));
  const [attempt] = await sending.attemptsOf(receiver);
  expect(attempt?.response?.length).toBe(16 * 1024);
});

it("waits for the Retry-After of a 429, up to a day", async () => {
  const server = await receiving((response) => response.writeHead(429, { "retry-after": "1000000" }).end());
  const receiver = await sending.createReceiver(server.url);
  await sending.deliver([receiver]);
  sending.start();
  await eventually(async () => {
    const [row] = await sending.db.query<{ hours: number }>(
      "select round(extract(epoch from due_at - now()) / 3600)::int as hours from webhook.deliveries where state = 'pending' and attempt = 1",
    );
    expect(row).toEqual({ hours: 24 });
  });
  expect(server.requests).toHaveLength(1);
});

it("disables a receiver at its first 410, and keeps its pending deliveries", async () => {
  const server = await receiving((response) => response.writeHead(410).end());
  const receiver = await sending.createReceiver(server.url, { maxInFlight: 1 });
  await sending.deliver([receiver], 5);
  sending.start();
  await eventually(async () =>
    expect(await lane(receiver)).toMatchObject({ held: true, in_flight: 0, last_status: 410, last_outcome: "refused" }),
  );
  const rows = await sending.db.query("select enabled, disabled_reason from webhook.receivers where id = $1", [receiver.id]);
  expect(rows).toEqual([{ enabled: false, disabled_reason: "gone" }]);
  expect(server.requests).toHaveLength(1);
  expect(await open()).toBe(5);
});

it("opens the circuit after ten failures in a row, sends one probe at a time, and recovers once one is accepted", async () => {
  const server = await receiving((response) => response.writeHead(500).end());
  const receiver = await sending.createReceiver(server.url);
  await sending.deliver([receiver], 40);
  sending.start({ retryDelaysSeconds: Array.from({ length: 9 }, () => 0) });
  await eventually(async () => expect(await lane(receiver)).toMatchObject({ in_flight: 0, trips: 1 }));
  const before = server.requests.length;
  expect(before).toBeGreaterThanOrEqual(10);
  expect(before).toBeLessThan(30);
  expect((await pausedUntil(receiver)) ?? "").toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
  // Once open_until has passed, one probe is sent, and no second until it ends.
  let endProbe = (): void => {};
  server.respond = (response) => void (endProbe = () => response.writeHead(500).end());
  await sending.db.query("update webhook.lanes set open_until = now()");
  await eventually(() => expect(server.requests).toHaveLength(before + 1));
  await eventually(async () => expect(await lane(receiver)).toMatchObject({ in_flight: 1 }));
  endProbe();
  await eventually(async () => expect(await lane(receiver)).toMatchObject({ in_flight: 0, trips: 2 }));
  expect(server.requests).toHaveLength(before + 1);
  const [circuit] = await sending.db.query<{ seconds: number }>(
    "select extract(epoch from open_until - now())::float8 as seconds from webhook.lanes",
  );
  expect(circuit?.seconds).toBeGreaterThan(5);
  expect(circuit?.seconds).toBeLessThanOrEqual(10);

  server.respond = (response) => response.writeHead(204).end();
  await sending.db.query("update webhook.lanes set open_until = now()");
  await eventually(async () => expect(await open()).toBe(0));
  expect(await lane(receiver)).toMatchObject({ failed_in_a_row: 0, trips: 0, failures: 0 });
  expect(await pausedUntil(receiver)).toBeNull();
});

it("sends first attempts in order with a limit of one in flight, and up to 64 concurrently without it", async () => {
  const server = await receiving();
  const ordered = await sending.createReceiver(server.url, { maxInFlight: 1 });
  await sending.deliver([ordered], 20);
  sending.start();
  await eventually(() => expect(server.requests).toHaveLength(20));
  expect(server.requests.map(({ body }) => body.data["number"])).toEqual(Array.from({ length: 20 }, (_, index) => index));

  // From 8 to 64 while attempts succeed: 60 are accepted, then no response is sent.
  const hanging: ServerResponse[] = [];
  const busy = await receiving((response) => {
    if (busy.requests.length <= 60) response.writeHead(204).end();
    else hanging.push(response);
  });
  const wide = await sending.createReceiver(busy.url);
  await sending.deliver([wide], 200);
  await eventually(() => expect(hanging.length).toBe(64));
  expect(await lane(wide)).toMatchObject({ in_flight: 64, max_in_flight: 64 });
});

/** How long an attempt hangs: longer than a test waits. */
const HANGS_MS = 300_000;

it("delays no receiver because another hangs or is 5,000 deliveries behind", async () => {
  const [hanging, behind, healthy] = [await receiving(() => {}), await receiving(), await receiving()];
  const [stuck, backlog, well] = [
    await sending.createReceiver(hanging.url),
    await sending.createReceiver(behind.url),
    await sending.createReceiver(healthy.url),
  ];
  await sending.deliver([stuck], 500);
  await sending.deliver([backlog], 5_000);
  sending.start({ deadlineMs: HANGS_MS });
  await eventually(() => expect(behind.requests.length).toBeGreaterThan(0));
  await sending.deliver([well], 20);
  // Sooner than a hanging attempt ends.
  await eventually(() => expect(healthy.requests).toHaveLength(20));
  expect(behind.requests.length).toBeLessThan(5_000);
});

it("reserves half of the attempts in flight for healthy receivers, however many hang", async () => {
  const [hanging, healthy] = [await receiving(() => {}), await receiving()];
  const stuck = await Promise.all(Array.from({ length: 30 }, () => sending.createReceiver(hanging.url)));
  for (const receiver of stuck) await sending.deliver([receiver], 5);
  // Each has failed before.
  await sending.db.query("update webhook.lanes set failed_in_a_row = 1");
  sending.start({ inFlightMax: 40, deadlineMs: HANGS_MS });
  await eventually(() => expect(hanging.requests.length).toBeGreaterThanOrEqual(20));
  const well = await sending.createReceiver(healthy.url);
  await sending.deliver([well], 50);
  // Sooner than a hanging attempt ends.
  await eventually(() => expect(healthy.requests).toHaveLength(50));
  // A claim takes whole lanes, so it may take a few more than half.
  expect(hanging.requests.length).toBeLessThan(40);
});

it("leaves no lane due without deliveries: the next event would wait for all such lanes", async () => {
  const server = await receiving();
  const receivers = await Promise.all(Array.from({ length: 60 }, () => sending.createReceiver(server.url)));
  for (const receiver of receivers) await sending.deliver([receiver]);
  sending.start();
  await eventually(() => expect(server.requests).toHaveLength(60));
  expect(await sending.db.query("select from webhook.lanes where next_due < 'infinity'")).toEqual([]);
});

describe("a result", () => {
  it("of an attempt whose lease ended counts nothing, even in one batch with that of the delivery's next attempt", async () => {
    const receiver = await sending.createReceiver("http://127.0.0.1:1/");
    await sending.deliver([receiver], 1);
    const claim = async (): Promise<ClaimedDelivery> => {
      const [claimed] = await claimDeliveries(sending.db, { max: 1, leaseSeconds: 60, failing: true });
      if (claimed === undefined) throw new Error("expected a due delivery");
      return claimed;
    };
    const ended = await claim();
    await sending.db.query("update webhook.deliveries set lease_until = now() - interval '1 second'");
    await endExpiredLeases(sending.db, { leaseSeconds: 60, attemptsMax: 3 });
    const next = resultOf(await claim(), { outcome: "refused", http_status: 500, state: "failed" });
    await writeResults(sending.db, [next, resultOf(ended)], Date.now(), openLog("webhook", "silent"));
    expect(await lane(receiver)).toMatchObject({ in_flight: 0, failures: 1, last_status: 500 });
    expect(await past(receiver)).toMatchObject([{ state: "failed" }]);
  });

  it("that completes five days of failures disables the receiver and holds its pending deliveries", async () => {
    const receiver = await sending.createReceiver("http://127.0.0.1:1/");
    await sending.deliver([receiver], 4);
    const claimed = await claimDeliveries(sending.db, { max: 10, leaseSeconds: 60, failing: true });
    const hours = [0, 13, 13 + 119, 13 + 120];
    for (const [index, delivery] of claimed.entries()) {
      expect(await lane(receiver)).toMatchObject({ held: false });
      const failed = resultOf(delivery, { outcome: "refused", http_status: 500, state: "pending", delay_seconds: 3_600 });
      await writeResults(sending.db, [failed], Date.now() + (hours[index] ?? 0) * 3_600_000, openLog("webhook", "silent"));
    }
    expect(await lane(receiver)).toMatchObject({ held: true, failures: 4, in_flight: 0 });
    expect(await sending.db.query("select disabled_reason from webhook.receivers where id = $1", [receiver.id])).toEqual([
      { disabled_reason: "failing" },
    ]);
    expect(await open()).toBe(4);
  });

  it.each([
    ["ahead", 3_600_000],
    ["behind", -3_600_000],
  ])(
    "of a probe begins the next pause, and of no attempt before it, if the clock of the process that paused is an hour %s",
    async (_, hourMs) => {
      const receiver = await sending.createReceiver("http://127.0.0.1:1/");
      await sending.deliver([receiver], 12);
      await sending.db.query("update webhook.lanes set max_in_flight = 12");
      const claimed = await claimDeliveries(sending.db, { max: 12, leaseSeconds: 60, failing: true });
      const failed = { outcome: "refused", http_status: 500, state: "pending", delay_seconds: 3_600 } as const;
      const write = async (from: number, until: number, clockMs: number, agoMs: number): Promise<void> => {
        const now = Date.now() + clockMs;
        const started_at = new Date(now - agoMs).toISOString();
        const results = claimed.slice(from, until).map((delivery) => ({ ...resultOf(delivery), ...failed, started_at }));
        await writeResults(sending.db, results, now, openLog("webhook", "silent"));
      };
      await write(0, 10, hourMs, 100);
      expect(await lane(receiver)).toMatchObject({ trips: 1 });
      // This attempt was in flight when the circuit opened.
      await write(10, 11, 0, 60_000);
      expect(await lane(receiver)).toMatchObject({ trips: 1 });
      await sending.db.query("update webhook.lanes set opened_at = opened_at - interval '5 s', open_until = now()");
      // A probe begins after the pause.
      await write(11, 12, 0, 1_000);
      expect(await lane(receiver)).toMatchObject({ trips: 2 });
      expect(await pausedUntil(receiver)).not.toBeNull();
    },
  );

  it("that Postgres refuses permanently ends its delivery, and delays no other", async () => {
    const responses: (() => void)[] = [];
    const [slow, quick] = [await receiving((response) => void responses.push(() => response.writeHead(204).end())), await receiving()];
    const [old, healthy] = [await sending.createReceiver(slow.url), await sending.createReceiver(quick.url)];
    const yesterday = new Date(Date.now() - 86_400_000).toISOString();
    await ensureDays(sending.db, [yesterday.slice(0, 10)]);
    await sending.db.query(
      "insert into webhook.events (id, created_at, brand_id, type, data) values ('evt_old', $1, $2, 'submission.approved', '{}')",
      [yesterday, old.brand],
    );
    await sending.db.query(
      "insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type) values ('dlv_old', $1, 'evt_old', $2, 'submission.approved')",
      [old.id, yesterday],
    );
    await sending.db.query("update webhook.lanes set next_due = '-infinity' where receiver_id = $1", [old.id]);
    sending.start();
    await eventually(() => expect(responses.length).toBe(1));
    for (const table of ["past_deliveries", "attempts"])
      await sending.db.query(`drop table webhook.${table}_${yesterday.slice(0, 10).replaceAll("-", "")}`);
    for (const respond of responses) respond();
    await sending.deliver([healthy], 3);
    await eventually(async () => expect(await past(healthy)).toHaveLength(3));
    await eventually(async () => expect(await open()).toBe(0));
    expect(await lane(old)).toMatchObject({ in_flight: 0 });
  });
});

it("sends what it claimed though the response to the claim's commit is lost, and the attempt counts once", async () => {
  const server = await receiving();
  const receiver = await sending.createReceiver(server.url, { maxInFlight: 1 });
  await sending.deliver([receiver], 3);
  sending.start({ db: losingCommitAnswer(sending.db) });
  const delivered = { state: "delivered", attempts: 1 };
  await eventually(async () => expect(await past(receiver)).toEqual([delivered, delivered, delivered]));
  expect(await lane(receiver)).toMatchObject({ in_flight: 0, failures: 0 });
});
