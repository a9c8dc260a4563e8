import type { Sql } from "@brand-records/postgres";
import { eventually } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { resultOf } from "../../test/attempt-result.ts";
import { useSending, type MadeReceiver } from "../../test/serve-sending.ts";
import type { Attempt, Delivery } from "../domain/delivery.ts";
import { claimDeliveries, type ClaimedDelivery } from "./claims.ts";
import { attemptsOf, findDelivery } from "./deliveries.ts";
import { pageOfDeliveries } from "./delivery-lists.ts";
import { endExpiredLeases } from "../sending/expired-leases.ts";
import { settleDeliveries, type SettledAttempt } from "./results.ts";

/** One promise: each attempt is stored once and shown once, with its delivery if it finished it, otherwise beside it. */

const sending = useSending();
let receiver: MadeReceiver;
beforeEach(async () => {
  receiver = await sending.createReceiver("http://127.0.0.1:1/");
});

async function claim(): Promise<ClaimedDelivery[]> {
  await sending.db.query("update webhook.deliveries set due_at = now() where state = 'pending'");
  await sending.db.query("update webhook.lanes set next_due = '-infinity'");
  return claimDeliveries(sending.db, { max: 100, leaseSeconds: 60, failing: true });
}

async function claimOne(): Promise<ClaimedDelivery> {
  const [claimed] = await claim();
  if (claimed === undefined) throw new Error("expected a due delivery");
  return claimed;
}

const ACCEPTED = { http_status: 200, response: Buffer.from("ok") };
const RETRIED = { outcome: "refused", http_status: 500, response: Buffer.from("no"), state: "pending", delay_seconds: 60 } as const;
const FAILED = { outcome: "connect", http_status: null, error: "no connection", state: "failed" } as const;

const shownAs = ({ attempt_id: id, attempt, started_at, duration_ms, outcome, http_status, error, response }: SettledAttempt): Attempt => ({
  id,
  attempt,
  started_at,
  duration_ms,
  outcome,
  http_status,
  error,
  response: response ?? Buffer.alloc(0),
});

const storedApart = async (): Promise<string[]> =>
  (await sending.db.query<{ id: string }>("select id from webhook.attempts order by attempt, started_at")).map(({ id }) => id);
const counted = async (): Promise<number> => {
  const [row] = await sending.db.query<{ n: number }>("select coalesce(sum(accepted + failed), 0) as n from webhook.attempt_hours");
  return row?.n ?? 0;
};
const find = (deliveryId: string): Promise<Delivery | undefined> => findDelivery(sending.db, { brandId: receiver.brand, deliveryId });

/** Ends every lease as the lease keeper does after its worker died. */
async function endLeases(attemptsMax: number): Promise<void> {
  await sending.db.query("update webhook.deliveries set lease_until = now() - interval '1 s' where state = 'sending'");
  await endExpiredLeases(sending.db, { leaseSeconds: 60, attemptsMax });
}

it.each([
  ["delivered", "accepted", ACCEPTED],
  ["failed", "connect", FAILED],
])("shows every attempt of a delivery that is %s", async (state, last_outcome, last) => {
  await sending.deliver([receiver]);
  const results: SettledAttempt[] = [];
  for (const outcome of [RETRIED, last]) {
    const result = resultOf(await claimOne(), outcome);
    await settleDeliveries(sending.db, [result]);
    results.push(result);
  }
  const [first] = results as [SettledAttempt, SettledAttempt];
  expect(await storedApart()).toEqual([first.attempt_id]);
  expect(await attemptsOf(sending.db, first.delivery_id)).toEqual(results.map(shownAs));
  expect(await find(first.delivery_id)).toMatchObject({ state, attempts: 2, last_outcome });
});

it("adds nothing when results are written a second time", async () => {
  await sending.deliver([receiver], 3);
  const [first, second, third] = (await claim()) as [ClaimedDelivery, ClaimedDelivery, ClaimedDelivery];
  const results = [resultOf(first, ACCEPTED), resultOf(second, RETRIED), resultOf(third, FAILED)];
  expect((await settleDeliveries(sending.db, results)).size).toBe(3);
  expect(await settleDeliveries(sending.db, results)).toEqual(new Set());
  expect(await storedApart()).toEqual([results[1]?.attempt_id]);
  expect(await counted()).toBe(3);
  for (const result of results) expect(await attemptsOf(sending.db, result.delivery_id)).toEqual([shownAs(result)]);
});

it("adds nothing when the first write commits while the second, whose lanes are gone, waits for it", async () => {
  await sending.deliver([receiver], 2);
  const [first, second] = (await claim()) as [ClaimedDelivery, ClaimedDelivery];
  const results = [resultOf(first, ACCEPTED), resultOf(second, RETRIED)];
  const again = await sending.db.transaction(async (sql) => {
    await settleDeliveries(sql, results);
    const waiting = settleDeliveries(sending.db, results);
    const isWaiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await eventually(async () => expect(await sending.db.query(isWaiting)).toHaveLength(1));
    return { waiting };
  });
  expect(await again.waiting).toEqual(new Set());
  expect(await storedApart()).toEqual([results[1]?.attempt_id]);
  expect(await counted()).toBe(2);
});

it("records a late result beside the delivery that another worker has or has finished, once", async () => {
  await sending.deliver([receiver]);
  const late = resultOf(await claimOne(), ACCEPTED);
  await endLeases(10);
  const next = resultOf(await claimOne(), ACCEPTED);
  for (let time = 0; time < 2; time += 1) expect(await settleDeliveries(sending.db, [late])).toEqual(new Set());
  const outcomes = async () => (await attemptsOf(sending.db, late.delivery_id)).map(({ attempt, outcome }) => [attempt, outcome]);
  expect(await outcomes()).toEqual([
    [1, "unknown"],
    [1, "accepted"],
  ]);
  expect(await settleDeliveries(sending.db, [late, next])).toEqual(new Set([next.attempt_id]));
  const later = { ...late, attempt_id: newId("att") };
  for (let time = 0; time < 2; time += 1) await settleDeliveries(sending.db, [later, next]);
  expect(await outcomes()).toEqual([
    [1, "unknown"],
    [1, "accepted"],
    [1, "accepted"],
    [2, "accepted"],
  ]);
  expect(await find(late.delivery_id)).toMatchObject({ state: "delivered", attempts: 2, last_outcome: "accepted" });
  expect(await counted()).toBe(4);
});

it("shows a result that came after the lease of the last attempt had ended, and no earlier one, as the last", async () => {
  await sending.deliver([receiver]);
  await settleDeliveries(sending.db, [resultOf(await claimOne(), RETRIED)]);
  const late = resultOf(await claimOne(), ACCEPTED);
  await endLeases(2);
  const seen = async () => (await find(late.delivery_id)) ?? {};
  expect(await seen()).toMatchObject({ state: "failed", attempts: 2, last_outcome: "unknown", last_http_status: null });
  await settleDeliveries(sending.db, [late]);
  expect(await seen()).toMatchObject({ state: "failed", attempts: 2, last_outcome: "accepted", last_http_status: 200 });
});

/** Scans of webhook.attempts by this session that are not in the statistics of all sessions yet. */
async function scansOfAttempts(sql: Sql): Promise<number> {
  const [scans] = await sql.query<{ n: number }>(
    "select coalesce(sum(seq_scan + coalesce(idx_scan, 0)), 0) as n from pg_stat_xact_user_tables where relname like 'attempts%'",
  );
  return scans?.n ?? 0;
}

it("a list of finished deliveries reads no attempts", async () => {
  await sending.deliver([receiver], 20);
  await settleDeliveries(
    sending.db,
    (await claim()).map((delivery, n) => resultOf(delivery, n % 2 === 0 ? ACCEPTED : FAILED)),
  );
  const noFilter = { events: null, type: null, from: null, to: null, statusClass: null, afterId: null };
  const states = ["delivered", "failed"] as const;
  const page = { ...noFilter, brandId: receiver.brand, receiverId: receiver.id, states, limit: 50 };
  const list = () =>
    sending.db.transaction(async (sql) => {
      const before = await scansOfAttempts(sql);
      const { deliveries } = await pageOfDeliveries(sql, page);
      return { deliveries, reads: (await scansOfAttempts(sql)) - before };
    });
  const { deliveries, reads } = await list();
  expect(deliveries.length).toBeGreaterThan(5);
  expect(new Set(deliveries.map(({ last_outcome, last_http_status }) => `${last_outcome} ${last_http_status}`))).toEqual(
    new Set(["accepted 200", "connect null"]),
  );
  expect(reads).toBe(0);
});
