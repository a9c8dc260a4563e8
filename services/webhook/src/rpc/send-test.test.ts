import { readEventMessage } from "@brand-records/resources";
import { openPool, type Database } from "@brand-records/postgres";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { replayDelivery } from "../use-cases/replay-delivery.ts";
import { sendTest } from "../use-cases/send-test.ts";
import { keyOf, newBrand, present, useReceivers, recordNothing } from "../../test/serve-receivers.ts";

const served = useReceivers();

const test = (receiver: Receiver, type?: string) => served.receivers.sendTest({ ...keyOf(receiver), type, next: false });

interface Queued {
  readonly event_id: string;
  readonly brand_id: string;
  readonly type: string;
  readonly data: string;
  readonly created_at: string;
  readonly event_test: boolean;
  readonly test: boolean;
  readonly state: string;
  readonly attempt: number;
}

const queued = (receiver: Receiver): Promise<Queued[]> =>
  served.db.query<Queued>(
    `select d.event_id, e.brand_id, e.type, e.data::text, e.created_at, e.test as event_test, d.test, d.state, d.attempt
       from webhook.deliveries d join webhook.events e on e.id = d.event_id and e.created_at = d.event_created_at
      where d.receiver_id = $1`,
    [receiver.id],
  );

it("queues an event of sample data, marked as a test, for this receiver alone, and makes its lane due", async () => {
  const receiver = await served.create(newBrand());
  const bystander = await served.create(receiver.brand_id);
  const response = await test(receiver, "payout.paid");
  const [row, ...more] = await queued(receiver);
  expect(more).toEqual([]);
  expect(row).toMatchObject({
    event_id: response.event_id,
    brand_id: receiver.brand_id,
    type: "payout.paid",
    event_test: true,
    test: true,
    state: "pending",
    attempt: 0,
  });
  const { event_id, brand_id, type, created_at, data } = present(row);
  const message = { id: event_id, type, created_at, brand_id, data: JSON.parse(data) as object };
  expect(readEventMessage(Buffer.from(JSON.stringify(message))).event).toMatchObject({ data: { id: "po_test" } });
  expect(await queued(bystander)).toEqual([]);
  const lanes = await served.db.query("select next_due <= now() as due from webhook.lanes where receiver_id = $1", [receiver.id]);
  expect(lanes).toEqual([{ due: true }]);
  const { delivery } = await served.deliveriesRpc.getDelivery({ brand_id: receiver.brand_id, delivery_id: response.delivery_id });
  expect(delivery).toMatchObject({ test: true, event_type: "payout.paid", event_id: response.event_id, state: "pending" });
});

it("is of the first selected type by default", async () => {
  const receiver = await served.create(newBrand(), { events: ["campaign.settled", "submission.rejected"] });
  await test(receiver);
  await test(receiver, "submission.rejected");
  expect((await queued(receiver)).map(({ type }) => type).toSorted()).toEqual(["campaign.settled", "submission.rejected"]);
});

it("creates the partition of its day", async () => {
  const receiver = await served.create(newBrand());
  const key = { brandId: receiver.brand_id, receiverId: receiver.id };
  await sendTest(served.db, key, recordNothing, {}, () => Date.UTC(2031, 4, 5, 6));
  expect(await queued(receiver)).toMatchObject([{ created_at: "2031-05-05T06:00:00.000Z" }]);
});

it.each(["campaign.settled", "ping"])("refuses %s, which is not selected", async (type) => {
  const receiver = await served.create(newBrand());
  await expect(test(receiver, type)).rejects.toMatchObject({ kind: "invalid_request", field: "type" });
  expect(await queued(receiver)).toEqual([]);
});

it("by the next secret is refused without one, and while the receiver is disabled", async () => {
  const receiver = await served.create(newBrand());
  const testByNext = () => served.receivers.sendTest({ ...keyOf(receiver), type: null, next: true });
  await expect(testByNext()).rejects.toMatchObject({ kind: "no_next_secret" });
  await served.receivers.rotateSecret(keyOf(receiver));
  await served.receivers.disableReceiver(keyOf(receiver));
  await expect(testByNext()).rejects.toMatchObject({ kind: "receiver_disabled" });
  await expect(test(receiver)).rejects.toMatchObject({ kind: "receiver_disabled" });
  expect(await queued(receiver)).toEqual([]);
});

describe("a receiver's tests in a minute", () => {
  const keyIn = (receiver: Receiver) => ({ brandId: receiver.brand_id, receiverId: receiver.id });
  const age = (receiver: Receiver, seconds: number) =>
    served.db.query("update webhook.events set received_at = received_at - make_interval(secs => $2) where brand_id = $1", [
      receiver.brand_id,
      seconds,
    ]);

  /** Long ago, so that a repeat of one of these stands for no other. */
  const finish = (receiver: Receiver, ids: readonly string[]) =>
    served.db.query(
      `with finished as (delete from webhook.deliveries where id = any($1::text[]) returning *)
       insert into webhook.past_deliveries (id, brand_id, receiver_id, event_id, event_created_at, event_type, state, attempts, test, created_at,
                                            attempt_id, started_at, duration_ms, outcome)
       select id, $2, receiver_id, event_id, event_created_at, event_type, 'delivered', 1, true, created_at - interval '1 minute',
              'att' || substr(id, 4), now(), 120, 'accepted' from finished`,
      [ids, receiver.brand_id],
    );

  it("are ten, whatever becomes of them; the refusal says when the next one may be sent, and other receivers of the brand have their own", async () => {
    const receiver = await served.create(newBrand());
    const bystander = await served.create(receiver.brand_id);
    const ids: string[] = [];
    for (const type of [...Array<string>(5).fill("payout.paid"), ...Array<string>(5).fill("submission.approved")]) {
      ids.push((await test(receiver, type)).delivery_id);
    }
    await served.db.query(
      "update webhook.deliveries set state = 'sending', lease = gen_random_uuid(), lease_until = now() where id = any($1::text[])",
      [ids.slice(0, 3)],
    );
    await finish(receiver, ids.slice(3, 7));
    await age(receiver, 50);
    const refusal = await test(receiver).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      kind: "rate_limited",
      message: expect.stringMatching(/at most 10 tests in 60 seconds\. Wait (\d|10) s/),
    });
    const { retryAfterSeconds = 0 } = refusal as { retryAfterSeconds?: number };
    expect([retryAfterSeconds > 0, retryAfterSeconds <= 10]).toEqual([true, true]);
    await test(bystander);

    await age(receiver, 10);
    await test(receiver);
  });

  /** Sends tests that finish at once and are an hour old by now. Returns their deliveries. */
  const oldTests = async (receiver: Receiver, count: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let sent = 0; sent < count; sent += 1) {
      ids.push((await test(receiver)).delivery_id);
      await age(receiver, 3_600);
    }
    await finish(receiver, ids);
    return ids;
  };
  const sendAgain = (receiver: Receiver, deliveryId: string) =>
    replayDelivery(served.db, { brandId: receiver.brand_id, deliveryId }, recordNothing).then(({ id }) => id);

  it("are ten together with those that are sent again, however old these are", async () => {
    const receiver = await served.create(newBrand());
    const bystander = await served.create(receiver.brand_id);
    const old = await oldTests(receiver, 9);
    const repeats: string[] = [];
    for (const id of old) repeats.push(await sendAgain(receiver, id));
    expect(new Set([...old, ...repeats]).size).toBe(18);
    const { delivery_id } = await test(receiver);
    await finish(receiver, [...repeats, delivery_id]);
    await expect(test(receiver)).rejects.toMatchObject({ kind: "rate_limited" });
    await expect(sendAgain(receiver, delivery_id)).rejects.toMatchObject({ kind: "rate_limited", retryAfterSeconds: expect.any(Number) });
    expect(await queued(receiver)).toEqual([]);
    await test(bystander);

    await served.db.query("update webhook.lanes set tests_repeated_at[1] = tests_repeated_at[1] - interval '60 s' where receiver_id = $1", [
      receiver.id,
    ]);
    expect(await sendAgain(receiver, delivery_id)).not.toBe(delivery_id);
    await expect(test(receiver)).rejects.toMatchObject({ kind: "rate_limited" });
    const [lane] = await served.db.query<{ times: number }>(
      "select cardinality(tests_repeated_at) as times from webhook.lanes where receiver_id = $1",
      [receiver.id],
    );
    expect(lane).toEqual({ times: 9 });
  });

  it.each<[string, (receiver: Receiver) => Promise<((db: Database) => Promise<unknown>)[]>]>([
    ["send them", async (receiver) => Array.from({ length: 30 }, () => (db) => sendTest(db, keyIn(receiver), recordNothing))],
    [
      "send them again",
      async (receiver) =>
        (await oldTests(receiver, 20)).map(
          (deliveryId) => (db) => replayDelivery(db, { brandId: receiver.brand_id, deliveryId }, recordNothing),
        ),
    ],
  ])("are ten however many processes %s at the same time", async (_, callsOf) => {
    const receiver = await served.create(newBrand());
    const calls = await callsOf(receiver);
    const pools = [1, 2].map((n) => openPool({ url: served.url, applicationName: `webhook ${n}` }));
    const sent = await Promise.allSettled(calls.map((call, n) => call(pools[n % 2] ?? served.db)));
    await Promise.all(pools.map((pool) => pool.stop()));
    expect(sent.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    for (const result of sent) if (result.status === "rejected") expect(result.reason).toMatchObject({ kind: "rate_limited" });
    expect(await queued(receiver)).toHaveLength(10);
  });
});
