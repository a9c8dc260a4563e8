import type { Receiver } from "@brand-records/proto/webhook/v1";
import { resultOf } from "../../test/attempt-result.ts";
import { addDelivery } from "../../test/add-delivery.ts";
import { newBrand, useReceivers } from "../../test/serve-receivers.ts";
import type { OutcomeKind } from "../domain/outcome.ts";
import { settleDeliveries, type SettledAttempt } from "../storage/results.ts";

const DAY = "2026-11-20";
const at = (time: string): string => `${DAY}T${time}.000Z`;

const served = useReceivers();

interface Made {
  readonly at: string;
  readonly ms?: number;
  readonly outcome?: OutcomeKind;
  readonly test?: boolean;
}

/** Makes an attempt of a new delivery, as a written result does. */
async function attemptOf(receiver: Receiver, { at, ms = 100, outcome = "accepted", test = false }: Made): Promise<SettledAttempt> {
  const { id, event_id } = await addDelivery(served.db, receiver, { at, state: "sending", test });
  const [row] = await served.db.query<{ lease: string }>("select lease from webhook.deliveries where id = $1", [id]);
  const delivery = { id, receiver_id: receiver.id, brand_id: receiver.brand_id, event_id, event_created_at: at, lease: row?.lease ?? "" };
  const retried = { state: "pending", delay_seconds: 5 } as const;
  return resultOf(delivery, { test, started_at: at, duration_ms: ms, outcome, ...(outcome !== "accepted" && retried) });
}

async function settle(receiver: Receiver, ...attempts: Made[]): Promise<SettledAttempt[]> {
  const results: SettledAttempt[] = [];
  for (const attempt of attempts) results.push(await attemptOf(receiver, attempt));
  await settleDeliveries(served.db, results);
  return results;
}

const stats = ({ brand_id, id }: Receiver, from = at("00:00:00"), to = at("23:59:59")) =>
  served.deliveriesRpc.getDeliveryStats({ brand_id, receiver_id: id, from, to });

/** Expects a duration within 5%, in whole milliseconds. */
const near = (ms: number | null | undefined, expected: number): void =>
  expect(Math.abs((ms ?? Number.NaN) - expected)).toBeLessThanOrEqual(0.05 * expected + 0.5);

it("counts attempts by the hour they started in, with median and 95th percentile, and in total", async () => {
  const receiver = await served.create(newBrand());
  const other = await served.create(receiver.brand_id);
  const fast = Array.from({ length: 18 }, (_, n): Made => ({ at: at("08:00:00"), ms: 20 + n }));
  await settle(
    receiver,
    ...fast,
    { at: at("08:59:59"), ms: 15_000, outcome: "timeout" },
    { at: at("08:59:59"), ms: 900, outcome: "refused" },
  );
  await settle(receiver, { at: at("09:00:00"), ms: 3_000 });
  await settle(other, { at: at("08:00:00"), ms: 1 });
  const { hours, total, counted_since } = await stats(receiver);
  expect(hours).toMatchObject([
    { hour: at("08:00:00"), stats: { accepted: 18, failed: 2 } },
    { hour: at("09:00:00"), stats: { accepted: 1, failed: 0 } },
  ]);
  near(hours[0]?.stats?.p50_ms, 29);
  near(hours[0]?.stats?.p95_ms, 900);
  near(hours[1]?.stats?.p50_ms, 3_000);
  near(hours[1]?.stats?.p95_ms, 3_000);
  expect(total).toMatchObject({ accepted: 19, failed: 2 });
  near(total?.p50_ms, 30);
  near(total?.p95_ms, 3_000);
  expect(Date.parse(counted_since)).toBeLessThanOrEqual(Date.now() + 1_000);
});

it("is added to by later results of the same hour, and by a repeated write of a result once", async () => {
  const receiver = await served.create(newBrand());
  const results = await settle(receiver, { at: at("08:00:00"), ms: 50 });
  await settle(receiver, { at: at("08:10:00"), ms: 50 }, { at: at("08:20:00"), ms: 50, outcome: "refused" });
  await settleDeliveries(served.db, results);
  expect((await stats(receiver)).hours).toMatchObject([{ stats: { accepted: 2, failed: 1 } }]);
});

it("counts no tests, and attempts without a duration as failed only", async () => {
  const receiver = await served.create(newBrand());
  await settle(receiver, { at: at("08:00:00"), test: true });
  expect(await stats(receiver)).toMatchObject({ hours: [], total: { accepted: 0, failed: 0, p50_ms: null, p95_ms: null } });
  await settle(receiver, { at: at("08:00:00"), ms: 0, outcome: "unknown" }, { at: at("08:00:00"), ms: 0, outcome: "unsendable" });
  expect((await stats(receiver)).total).toEqual({ accepted: 0, failed: 2, p50_ms: null, p95_ms: null });
  await settle(receiver, { at: at("08:00:00"), ms: 400 });
  const { total } = await stats(receiver);
  expect(total).toMatchObject({ accepted: 1, failed: 2 });
  near(total?.p50_ms, 400);
});

it("counts every attempt of batches that are written at the same time, also without a lane to lock", async () => {
  const receivers = await Promise.all(Array.from({ length: 4 }, () => served.create(newBrand())));
  const batches = await Promise.all(
    Array.from({ length: 8 }, () =>
      Promise.all(receivers.flatMap((receiver) => [10, 1_000].map((ms) => attemptOf(receiver, { at: at("08:00:00"), ms })))),
    ),
  );
  await Promise.all(batches.map((batch, n) => settleDeliveries(served.db, n % 2 === 0 ? batch : batch.toReversed())));
  for (const receiver of receivers) expect((await stats(receiver)).total).toMatchObject({ accepted: 16 });
});

it("returns the whole hours in which the time begins and ends", async () => {
  const receiver = await served.create(newBrand());
  await settle(receiver, { at: at("07:59:59") }, { at: at("08:00:00") }, { at: at("08:59:59") }, { at: at("09:00:00") });
  const hoursOf = async (from: string, to: string) => (await stats(receiver, from, to)).hours.map(({ hour }) => hour.slice(11, 13));
  expect(await hoursOf(at("08:30:00"), at("08:31:00"))).toEqual(["08"]);
  expect(await hoursOf(at("08:30:00"), at("09:00:01"))).toEqual(["08", "09"]);
  expect(await hoursOf("2026-11-20T15:30:00+08:00", at("08:00:00"))).toEqual(["07"]);
});

it.each([
  [at("08:00:00"), at("08:00:00"), "to"],
  [at("08:00:00"), at("07:00:00"), "to"],
  ["2026-10-01T00:00:00Z", "2026-10-31T00:00:00.001Z", "to"],
  ["today", at("08:00:00"), "from"],
])("refuses the time from %s to %s", async (from, to, field) => {
  const receiver = await served.create(newBrand());
  await expect(stats(receiver, from, to)).rejects.toMatchObject({ kind: "invalid_request", field });
});

it("covers 30 days, and returns not_found for another brand's receiver", async () => {
  const receiver = await served.create(newBrand());
  expect((await stats(receiver, "2026-10-01T00:30:00Z", "2026-10-31T00:30:00Z")).hours).toEqual([]);
  await expect(stats({ ...receiver, brand_id: newBrand() })).rejects.toMatchObject({ kind: "not_found", field: "receiver_id" });
});
