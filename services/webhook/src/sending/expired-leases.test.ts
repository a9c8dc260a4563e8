import { eventually } from "@brand-records/testkit";
import { startReceivingServer, type ReceivingServer } from "../../test/receiving-server.ts";
import { recordNothing } from "../../test/serve-receivers.ts";
import { useSending, type MadeReceiver } from "../../test/serve-sending.ts";
import { deleteReceiver } from "../use-cases/receivers.ts";
import { claimDeliveries } from "../storage/claims.ts";
import { endExpiredLeases, type EndedLeases } from "./expired-leases.ts";

const TERMS = { leaseSeconds: 30, attemptsMax: 10 };

const sending = useSending();
let server: ReceivingServer;
beforeEach(async () => void (server = await startReceivingServer()));
afterEach(() => server.stop());

/**
 * Puts every delivery into the state that a dead worker leaves: claimed, with an expired lease. The first receiver's leases expired
 * first.
 */
async function abandonAll(...receivers: readonly MadeReceiver[]): Promise<void> {
  await sending.db.query(
    `update webhook.deliveries d set state = 'sending', attempt = attempt + 1, lease = gen_random_uuid(),
            lease_until = now() - interval '1 hour' + array_position($1::text[], d.receiver_id) * interval '1 minute'`,
    [receivers.map(({ id }) => id)],
  );
  await sending.db.query(
    `update webhook.lanes l set next_due = 'infinity',
            in_flight = (select count(*) from webhook.deliveries d where d.receiver_id = l.receiver_id)`,
  );
}

/** Ends expired leases as the lease keeper does, until none is left. */
async function endAll(): Promise<EndedLeases> {
  const all = { pending: 0, failed: 0, removed: 0 };
  for (;;) {
    const { pending, failed, removed } = await endExpiredLeases(sending.db, TERMS);
    if (pending + failed + removed === 0) return all;
    all.pending += pending;
    all.failed += failed;
    all.removed += removed;
  }
}

const deliveries = ({ id }: MadeReceiver) =>
  sending.db.query("select state, attempt, lease from webhook.deliveries where receiver_id = $1 order by id", [id]);
const lane = async ({ id }: MadeReceiver) =>
  (await sending.db.query("select in_flight, next_due <= now() as due, failures from webhook.lanes where receiver_id = $1", [id]))[0];
const pastDeliveries = ({ id }: MadeReceiver) =>
  sending.db.query("select state, attempts from webhook.past_deliveries where receiver_id = $1 order by id", [id]);

it("removes 1,200 deliveries of a deleted receiver when their leases have expired, and ends the leases of another receiver", async () => {
  const [deleted, healthy] = [await sending.createReceiver("http://127.0.0.1:1/"), await sending.createReceiver("http://127.0.0.1:2/")];
  await sending.deliver([deleted], 1_200);
  await sending.deliver([healthy], 5);
  await abandonAll(deleted, healthy);
  expect(await deleteReceiver(sending.db, { brandId: deleted.brand, receiverId: deleted.id }, recordNothing)).toBe(0);
  expect(await endAll()).toEqual({ pending: 5, failed: 0, removed: 1_200 });
  expect(await deliveries(deleted)).toEqual([]);
  expect(await deliveries(healthy)).toEqual(Array.from({ length: 5 }, () => ({ state: "pending", attempt: 1, lease: null })));
  expect(await lane(healthy)).toEqual({ in_flight: 0, due: true, failures: 0 });
});

it("ends each expired lease once with three callers at a time: 1,200 of one receiver, then 5 of another", async () => {
  const [busy, healthy] = [await sending.createReceiver("http://127.0.0.1:1/"), await sending.createReceiver("http://127.0.0.1:2/")];
  await sending.deliver([busy], 1_200);
  await sending.deliver([healthy], 5);
  await abandonAll(busy, healthy);
  const ended = await Promise.all([endAll(), endAll(), endAll()]);
  expect(ended.reduce((sum, { pending }) => sum + pending, 0)).toBe(1_205);
  expect(await lane(busy)).toEqual({ in_flight: 0, due: true, failures: 0 });
  expect(await lane(healthy)).toEqual({ in_flight: 0, due: true, failures: 0 });
});

it("does not end leases that have not expired", async () => {
  const receiver = await sending.createReceiver("http://127.0.0.1:1/");
  await sending.deliver([receiver], 3);
  await claimDeliveries(sending.db, { max: 10, leaseSeconds: 30, failing: true });
  expect(await endAll()).toEqual({ pending: 0, failed: 0, removed: 0 });
  expect(await lane(receiver)).toMatchObject({ in_flight: 3 });
});

it("records an attempt whose lease expired as unknown, and makes the next attempt", async () => {
  const receiver = await sending.createReceiver(server.url);
  await sending.deliver([receiver]);
  await abandonAll(receiver);
  expect(await endAll()).toEqual({ pending: 1, failed: 0, removed: 0 });
  sending.start();
  await eventually(async () => expect(await pastDeliveries(receiver)).toEqual([{ state: "delivered", attempts: 2 }]));
  expect(server.requests.map(({ headers }) => headers["x-service-attempt"])).toEqual(["2"]);
  expect(await sending.attemptsOf(receiver)).toMatchObject([
    { attempt: 1, outcome: "unknown", http_status: null, error: expect.stringContaining("ended before it wrote the result") },
    { attempt: 2, outcome: "accepted" },
  ]);
});

it("fails a delivery whose lease expired in the tenth attempt: there is no eleventh", async () => {
  const receiver = await sending.createReceiver(server.url, { maxInFlight: 1 });
  await sending.deliver([receiver], 2);
  await sending.db.query("update webhook.deliveries set attempt = 9 where id = (select min(id) from webhook.deliveries)");
  await abandonAll(receiver);
  expect(await endAll()).toEqual({ pending: 1, failed: 1, removed: 0 });
  expect(await pastDeliveries(receiver)).toEqual([{ state: "failed", attempts: 10 }]);
  sending.start();
  await eventually(async () => expect(await pastDeliveries(receiver)).toHaveLength(2));
  expect(server.requests.map(({ headers }) => headers["x-service-attempt"])).toEqual(["2"]);
  expect(await sending.attemptsOf(receiver)).toMatchObject([
    { attempt: 10, outcome: "unknown" },
    { attempt: 1, outcome: "unknown" },
    { attempt: 2, outcome: "accepted" },
  ]);
  expect(await lane(receiver)).toMatchObject({ in_flight: 0, failures: 0 });
});

it("removes a delivery whose event was deleted, and releases its place in the lane", async () => {
  const receiver = await sending.createReceiver("http://127.0.0.1:1/");
  await sending.deliver([receiver], 2);
  await sending.db.query("update webhook.deliveries set attempt = 9 where id = (select min(id) from webhook.deliveries)");
  await abandonAll(receiver);
  const [event] = await sending.db.query<{ day: string }>(
    "select to_char(min(created_at) at time zone 'UTC', 'YYYYMMDD') as day from webhook.events",
  );
  for (const table of ["events", "past_deliveries", "attempts"]) await sending.db.query(`drop table webhook.${table}_${event?.day}`);
  expect(await endAll()).toEqual({ pending: 0, failed: 0, removed: 2 });
  expect(await deliveries(receiver)).toEqual([]);
  expect(await lane(receiver)).toMatchObject({ in_flight: 0 });
});
