import type { DeadLetter } from "@brand-records/event-log";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { resultOf } from "../../test/attempt-result.ts";
import { addDelivery } from "../../test/add-delivery.ts";
import { messageOf } from "../../test/add-events.ts";
import { newBrand, NO_DEAD_LETTERS, receiverInput, useReceivers } from "../../test/serve-receivers.ts";
import { namesBrand } from "./operator.ts";
import { intakeMetrics, openIntake } from "../intake/intake.ts";
import { endExpiredLeases } from "../sending/expired-leases.ts";
import { writeResults } from "../use-cases/write-results.ts";
import type { AttemptResult } from "../storage/results.ts";

const silent = openLog("webhook", "silent");
const TODAY = new Date().toISOString();
const TABLES = ["brands", "receivers", "lanes", "deliveries", "past_deliveries", "attempts", "attempt_hours", "events", "replays"];

const served = useReceivers();
let brand: string;
let other: string;
beforeEach(async () => {
  [brand, other] = [newBrand(), newBrand()];
  for (const table of TABLES.toReversed()) await served.db.query(`delete from webhook.${table}`);
});

const deleteData = (brand_id = brand) => served.operator.deleteBrandData({ brand_id });
const deleteAll = (): Promise<void> => eventually(async () => expect(await deleteData()).toMatchObject({ done: true }));

const counts = async (): Promise<Record<string, number>> => {
  const entries = TABLES.map(async (table): Promise<[string, number]> => {
    const [row] = await served.db.query<{ n: number }>(`select count(*) as n from webhook.${table}`);
    return [table, row?.n ?? 0];
  });
  return Object.fromEntries(await Promise.all(entries));
};

/** An attempt of a delivery that a worker is sending. */
async function attempt(
  receiver: Receiver,
  delivery: { id: string; event_id: string },
  more: Partial<AttemptResult> = {},
): Promise<AttemptResult> {
  const [row] = await served.db.query<{ lease: string | null; event_created_at: string }>(
    "update webhook.deliveries set attempt = attempt + 1 where id = $1 returning lease, event_created_at",
    [delivery.id],
  );
  const { brand_id, id: receiver_id, url } = receiver;
  const { lease = null, event_created_at = TODAY } = row ?? {};
  const sent = { ...delivery, receiver_id, brand_id, url, event_created_at, ...(lease !== null && { lease }) };
  return resultOf(sent, { started_at: TODAY, ...more });
}

const write = (...results: AttemptResult[]) => writeResults(served.db, results, Date.now(), silent);

/** A receiver with deliveries in every state, with attempts, and a replay. */
async function fill(brandId: string): Promise<Receiver> {
  const receiver = await served.create(brandId);
  for (const state of ["pending", "delivered", "failed"] as const) await addDelivery(served.db, receiver, { at: TODAY, state });
  await addDelivery(served.db, receiver, { at: TODAY, test: true });
  for (const state of ["delivered", "pending"] as const) {
    const sending = await addDelivery(served.db, receiver, { at: TODAY, state: "sending" });
    await write(await attempt(receiver, sending, { state, delay_seconds: state === "pending" ? 60 : null }));
  }
  const since = new Date(Date.parse(TODAY) - 60_000).toISOString();
  await served.deliveriesRpc.replayEvents({ brand_id: brandId, receiver_id: receiver.id, since, failed_only: false });
  return receiver;
}

it("deletes everything of the brand, and nothing of another brand", async () => {
  await fill(other);
  const before = await counts();
  expect(Object.values(before)).not.toContain(0);
  await fill(brand);
  await fill(brand);
  const { deleted, done } = await deleteData();
  expect(done).toBe(true);
  expect(deleted.map(({ kind }) => kind)).toEqual([
    "deliveries",
    "deliveries",
    "events",
    "hours of attempts",
    "hours of attempts",
    "audit entries",
    "receivers",
  ]);
  expect(await counts()).toEqual(before);
  expect(await deleteData()).toMatchObject({ deleted: [], done: true });
});

it("waits for attempts in flight, discards their results, and sends nothing more", async () => {
  const receiver = await served.create(brand);
  const sending = await addDelivery(served.db, receiver, { at: TODAY, state: "sending" });
  const result = await attempt(receiver, sending);
  expect(await deleteData()).toMatchObject({ done: false, waiting_for: "attempts in flight (1)" });
  expect(await served.db.query("select held from webhook.lanes")).toEqual([{ held: true }]);
  await expect(served.receivers.createReceiver(receiverInput(brand))).rejects.toMatchObject({ kind: "not_found" });
  await write(result);
  await deleteAll();
  // Late: the receiver is gone, and so is the brand.
  await write(result);
  expect(Object.values(await counts())).toEqual(TABLES.map(() => 0));
});

it("leaves no earlier attempt of a delivery that is in flight when the brand closes, however its lease ends", async () => {
  const receiver = await served.create(brand);
  const retry = async () => {
    const delivery = await addDelivery(served.db, receiver, { at: TODAY, state: "sending" });
    await write(await attempt(receiver, delivery, { state: "pending", delay_seconds: 0, response: Buffer.from(brand) }));
    await served.db.query(
      "update webhook.deliveries set state = 'sending', lease = gen_random_uuid(), lease_until = now() + interval '30 s' where id = $1",
      [delivery.id],
    );
    return delivery;
  };
  const [discarded, expired, orphan] = [await retry(), await retry(), await retry()];
  const result = await attempt(receiver, discarded, { attempt: 2 });
  expect(await deleteData()).toMatchObject({ done: false });
  await write(result);
  expect(await counts()).toMatchObject({ deliveries: 2, attempts: 2 });
  const expire = ({ id }: { id: string }) =>
    served.db.query("update webhook.deliveries set lease_until = now() - interval '1 s' where id = $1", [id]);
  await expire(expired);
  await endExpiredLeases(served.db, { leaseSeconds: 30, attemptsMax: 9 });
  expect(await counts()).toMatchObject({ deliveries: 1, attempts: 1 });
  await served.db.query("delete from webhook.receivers where id = $1", [receiver.id]);
  await expire(orphan);
  await endExpiredLeases(served.db, { leaseSeconds: 30, attemptsMax: 9 });
  expect(await counts()).toMatchObject({ deliveries: 0, attempts: 0 });
});

it("neither enables nor tests a receiver of a closed brand, and holds it again if an old process did", async () => {
  const { id: receiver_id } = await served.create(brand);
  await addDelivery(served.db, await served.create(brand), { at: TODAY, state: "sending" });
  await deleteData();
  const key = { brand_id: brand, receiver_id };
  const refused = { kind: "not_found", field: "receiver_id" };
  await expect(served.receivers.enableReceiver({ ...key, held: "release" })).rejects.toMatchObject(refused);
  await served.db.query("update webhook.receivers set enabled = true, disabled_reason = null, disabled_at = null");
  await served.db.query("update webhook.lanes set held = false");
  await expect(served.receivers.sendTest({ ...key, next: false })).rejects.toMatchObject(refused);
  await deleteData();
  expect(
    await served.db.query("select distinct l.held, r.enabled from webhook.lanes l join webhook.receivers r on r.id = l.receiver_id"),
  ).toEqual([{ held: true, enabled: false }]);
});

it("still records the result of an attempt to a receiver that was deleted, whose brand was not", async () => {
  const receiver = await served.create(brand);
  const sending = await addDelivery(served.db, receiver, { at: TODAY, state: "sending" });
  const result = await attempt(receiver, sending);
  await served.receivers.deleteReceiver({ brand_id: brand, receiver_id: receiver.id });
  await write(result);
  expect(await counts()).toMatchObject({ attempts: 0, past_deliveries: 1, deliveries: 0 });
});

it("records nothing about attempts whose worker died", async () => {
  const receiver = await served.create(brand);
  await addDelivery(served.db, receiver, { at: TODAY, state: "sending" });
  await served.db.query("update webhook.deliveries set lease_until = now() - interval '1 s'");
  // Closed, with nothing deleted yet.
  await served.db.query("update webhook.brands set deletion_started_at = now()");
  await endExpiredLeases(served.db, { leaseSeconds: 30, attemptsMax: 1 });
  expect(await counts()).toMatchObject({ deliveries: 0, past_deliveries: 0, attempts: 0 });
  await deleteAll();
  expect(Object.values(await counts())).toEqual(TABLES.map(() => 0));
});

describe("the intake", () => {
  const dead: DeadLetter[] = [];
  const deadLetters = { ...NO_DEAD_LETTERS, put: async (letters: readonly DeadLetter[]) => void dead.push(...letters) };
  beforeEach(() => dead.splice(0));

  /** @param deleted brands that accounts knows as deleted; all others but `other` never existed */
  const openTestIntake = (deleted: readonly string[]) => {
    const metrics = intakeMetrics(openMetrics("webhook"));
    const lookUp = async (ids: readonly string[]) => {
      const existing = new Set(ids.filter((id) => id === other));
      for (const id of existing) await served.db.query("insert into webhook.brands (brand_id) values ($1) on conflict do nothing", [id]);
      return { existing, deleted: new Set(ids.filter((id) => deleted.includes(id))) };
    };
    const intake = openIntake({ db: served.db, clock: Date, brands: { lookUp }, deadLetters, keepDays: 30, metrics, log: silent });
    return { intake, dropped: async () => (await metrics.dropped.get()).values[0]?.value };
  };

  it("drops events of a brand that is being deleted and of a deleted one, and dead-letters those of one that never was", async () => {
    await served.create(brand);
    await addDelivery(served.db, await served.create(brand), { at: TODAY, state: "sending" });
    await deleteData();
    const { intake, dropped } = openTestIntake(["brd_deleted"]);
    await intake([messageOf(brand), messageOf("brd_deleted"), messageOf("brd_never"), messageOf(other)]);
    expect(await dropped()).toBe(2);
    expect(dead.map(({ reason }) => reason)).toEqual(["there is no such brand"]);
    expect(await served.db.query("select brand_id from webhook.events where brand_id <> $1", [brand])).toEqual([{ brand_id: other }]);
    expect(await counts()).toMatchObject({ deliveries: 1 });
  });

  it("makes the deletion wait while it stores events of the brand", async () => {
    await served.db.query("insert into webhook.brands (brand_id) values ($1)", [brand]);
    const { intake } = openTestIntake([brand]);
    const waiting = (count: number): Promise<void> =>
      eventually(async () => {
        const [row] = await served.db.query<{ n: number }>(
          "select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        expect(row?.n).toBe(count);
      });
    const both = await served.db.transaction(async (sql) => {
      // Stops inserts, and no reads.
      await sql.query("lock table webhook.events in share row exclusive mode");
      const storing = intake([messageOf(brand)]);
      await waiting(1);
      const deleting = deleteData();
      await waiting(2);
      return [storing, deleting];
    });
    await Promise.all(both);
    expect(Object.values(await counts())).toEqual(TABLES.map(() => 0));
  });

  it("stores a batch before the deletion or drops it after, however the two overlap", async () => {
    for (let round = 0; round < 20; round += 1) {
      const id = newBrand();
      await served.create(id);
      const { intake } = openTestIntake([id]);
      const messages = Array.from({ length: 20 }, () => messageOf(id));
      await Promise.all([
        intake(messages),
        deleteData(id),
        intake(messages.map(({ key, value }) => ({ key, value, headers: {}, position: "again" }))),
      ]);
      await eventually(async () => expect(await deleteData(id)).toMatchObject({ done: true }));
      expect(Object.values(await counts())).toEqual(TABLES.map(() => 0));
    }
    expect(dead).toEqual([]);
  });
});

it("finds the messages that name a brand, but not those that name one whose id begins the same", () => {
  const message = (value: string) => ({ key: "", value: Buffer.from(value), headers: {} });
  expect(namesBrand(message('{"brand_id":"brd_1"}'), "brd_1")).toBe(true);
  expect(namesBrand(message("broken brd_1"), "brd_1")).toBe(true);
  expect(namesBrand({ ...message(""), headers: { note: "brd_1" } }, "brd_1")).toBe(true);
  expect(namesBrand(message('{"brand_id":"brd_12"}'), "brd_1")).toBe(false);
});
