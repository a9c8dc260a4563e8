import { openPool, type Database } from "@brand-records/postgres";
import type { Receiver, Replay, ReplayEventsRequest } from "@brand-records/proto/webhook/v1";
import { openLog } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { addDelivery, type NewDelivery } from "../../test/add-delivery.ts";
import { addEvents } from "../../test/add-events.ts";
import { keyOf, newBrand, present, useReceivers } from "../../test/serve-receivers.ts";
import { dropOldDays } from "../storage/daily-partitions.ts";
import { REPLAY_BATCH_EVENTS, REPLAY_PENDING_MAX, replayBatch } from "./replay-batch.ts";
import { startReplayWorker, type ReplayWorker } from "./replay-worker.ts";

const FROM = "2026-01-20T08:30:00.000Z";
/** A time before every event. */
const SINCE = "2026-01-19T00:00:00.000Z";
const at = (time: string): string => `2026-01-20T${time}Z`;
const log = openLog("webhook", "silent");

const served = useReceivers();

const workers: ReplayWorker[] = [];
const start = (db: Database = served.db): ReplayWorker => {
  const worker = startReplayWorker(db, log);
  workers.push(worker);
  return worker;
};
const stopWorkers = () => Promise.all(workers.splice(0).map((worker) => worker.stop()));
afterEach(async () => {
  await stopWorkers();
  await served.db.query("update webhook.replays set finished_at = now() where finished_at is null");
});

type More = Partial<ReplayEventsRequest>;
const FAILED: More = { failed_only: true };

const requestOf = ({ brand_id, id }: Receiver, more: More): ReplayEventsRequest => ({
  brand_id,
  receiver_id: id,
  since: SINCE,
  failed_only: false,
  ...more,
});
const request = async (receiver: Receiver, more: More = {}): Promise<Replay> =>
  present((await served.deliveriesRpc.replayEvents(requestOf(receiver, more))).replay);
const count = async (receiver: Receiver, more: More): Promise<number> =>
  (await served.deliveriesRpc.countReplay(requestOf(receiver, more))).events;
const get = async ({ brand_id }: Pick<Receiver, "brand_id">, replay_id: string): Promise<Replay> =>
  present((await served.deliveriesRpc.getReplay({ brand_id, replay_id })).replay);
const latest = ({ brand_id, id }: Receiver) => served.deliveriesRpc.getLatestReplay({ brand_id, receiver_id: id });
const cancel = async ({ brand_id }: Pick<Receiver, "brand_id">, replay_id: string): Promise<Replay> =>
  present((await served.deliveriesRpc.cancelReplay({ brand_id, replay_id })).replay);
const finished = (receiver: Receiver, { id }: Replay): Promise<Replay> =>
  eventually(async () => {
    const replay = await get(receiver, id);
    expect(replay.finished_at).not.toBeNull();
    return replay;
  });

/** Returns the events with a pending delivery at attempt 0, in the order in which they will be sent. */
const queuedEvents = async ({ id }: Pick<Receiver, "id">): Promise<string[]> =>
  (
    await served.db.query<{ event_id: string }>(
      "select event_id from webhook.deliveries where receiver_id = $1 and state = 'pending' and attempt = 0 order by due_at, id",
      [id],
    )
  ).map(({ event_id }) => event_id);

async function receiverWith(count: number): Promise<{ receiver: Receiver; events: string[] }> {
  const receiver = await served.create(newBrand());
  return { receiver, events: await addEvents(served.db, { brandId: receiver.brand_id, from: FROM, count }) };
}

const failure = async (receiver: Receiver, more: Partial<NewDelivery> & { readonly at: string }): Promise<string> =>
  (await addDelivery(served.db, receiver, { state: "failed", ...more })).event_id;

/** Adds events with a failed delivery each, a millisecond apart. Returns the events in their order. */
async function addFailed(receiver: Receiver, total: number): Promise<string[]> {
  const events = await addEvents(served.db, { brandId: receiver.brand_id, from: at("08:00:00.000"), count: total });
  await served.db.query(
    `insert into webhook.past_deliveries (id, brand_id, receiver_id, event_id, event_created_at, event_type, state, attempts, test, created_at,
                                          attempt_id, started_at, duration_ms, outcome)
     select 'dlv_' || substr(e.id, 5), e.brand_id, $1, e.id, e.created_at, e.type, 'failed', 10, false, e.created_at,
            'att_' || substr(e.id, 5), e.created_at, 120, 'refused'
       from webhook.events e where e.brand_id = $2 on conflict do nothing`,
    [receiver.id, receiver.brand_id],
  );
  return events;
}

describe("requesting a replay", () => {
  it("twenty times concurrently makes one replay", async () => {
    const { receiver } = await receiverWith(3);
    const replays = await Promise.all(Array.from({ length: 20 }, () => request(receiver)));
    expect(new Set(replays.map(({ id }) => id)).size).toBe(1);
    expect(await served.db.query("select from webhook.replays where receiver_id = $1", [receiver.id])).toHaveLength(1);
  });

  it("accepts any offset, and reads two spellings of one time as the same", async () => {
    const { receiver } = await receiverWith(1);
    const replay = await request(receiver, { since: "2026-01-19T08:00:00+08:00" });
    expect(replay.since).toBe(SINCE);
    expect((await request(receiver, { since: "2026-01-19T00:00:00.0009Z" })).id).toBe(replay.id);
  });

  it("for another time, or of failed ones only, is refused while one is in progress, and makes a new one afterwards", async () => {
    const { receiver } = await receiverWith(1);
    const first = await request(receiver);
    for (const more of [{ since: FROM }, FAILED, { until: at("23:00:00.000") }]) {
      const refusal = { kind: "request_conflict", message: expect.stringContaining(first.id) };
      await expect(request(receiver, more)).rejects.toMatchObject(refusal);
    }
    start();
    await finished(receiver, first);
    expect((await request(receiver)).id).not.toBe(first.id);
  });

  it.each<More>([
    ...["yesterday", "2026-01-19", "2026-01-19T00:00Z", "2026-02-30T00:00:00Z", "0000-01-01T00:00:00Z", "2026-01-19T00:00:00", ""].map(
      (since) => ({ since }),
    ),
    { since: "2126-11-20T00:00:00Z" },
    { until: SINCE, failed_only: true },
    { until: "tomorrow" },
  ])("refuses %j, and so does its count", async (more) => {
    const receiver = await served.create(newBrand());
    const refusal = { kind: "invalid_request", field: "until" in more ? "until" : "since" };
    await expect(request(receiver, more)).rejects.toMatchObject(refusal);
    await expect(count(receiver, more)).rejects.toMatchObject(refusal);
  });

  it("returns not_found for another brand's receiver and replay, and after the receiver was deleted", async () => {
    const { receiver } = await receiverWith(1);
    const theirs = newBrand();
    await expect(request({ ...receiver, brand_id: theirs })).rejects.toMatchObject({ kind: "not_found", field: "receiver_id" });
    const replay = await request(receiver);
    await expect(get({ brand_id: theirs }, replay.id)).rejects.toMatchObject({ kind: "not_found", field: "replay_id" });
    await served.receivers.deleteReceiver(keyOf(receiver));
    await expect(get(receiver, replay.id)).rejects.toMatchObject({ kind: "not_found" });
  });
});

describe("a replay", () => {
  it("queues the events the receiver selects, once each, in their order, and makes the lane due", async () => {
    const { receiver, events } = await receiverWith(1_200);
    const brandId = receiver.brand_id;
    await addEvents(served.db, { brandId, from: FROM, count: 5, type: "campaign.settled" });
    await addEvents(served.db, { brandId, from: FROM, count: 5, test: true });
    await addEvents(served.db, { brandId, from: FROM, count: 5, receivedAt: new Date(Date.now() + 60_000).toISOString() });
    await addEvents(served.db, { brandId, from: "2026-01-18T23:59:59.996Z", count: 5 });
    await addEvents(served.db, { brandId: newBrand(), from: FROM, count: 5 });
    const bystander = await served.create(brandId);
    const replay = await request(receiver);
    expect(replay).toEqual({
      id: expect.stringMatching(/^rpl_/),
      receiver_id: receiver.id,
      since: SINCE,
      until: expect.stringMatching(/Z$/),
      queued: 0,
      total: 1_200,
      finished_at: null,
      failed_only: false,
      started_at: replay.until,
      cancelled_at: null,
    });
    start();
    expect(await finished(receiver, replay)).toMatchObject({ queued: 1_200, total: 1_200 });
    expect(await queuedEvents(receiver)).toEqual(events);
    expect(await queuedEvents(bystander)).toEqual([]);
    const awake = "select next_due <= now() as due from webhook.lanes where receiver_id = any($1::text[]) order by receiver_id = $2";
    expect(await served.db.query(awake, [[receiver.id, bystander.id], receiver.id])).toEqual([{ due: false }, { due: true }]);
  });

  it("by two concurrent workers neither loses nor repeats an event", async () => {
    const targets = await Promise.all([receiverWith(1_300), receiverWith(700), receiverWith(REPLAY_BATCH_EVENTS)]);
    const replays = await Promise.all(targets.map(({ receiver }) => request(receiver)));
    const [one, two] = [openPool({ url: served.url, applicationName: "one" }), openPool({ url: served.url, applicationName: "two" })];
    const [first, second] = [start(one), start(two)];
    for (const [at, { receiver, events }] of targets.entries()) {
      expect(await finished(receiver, present(replays[at]))).toMatchObject({ queued: events.length });
      expect((await queuedEvents(receiver)).toSorted()).toEqual(events);
    }
    await Promise.all([first.stop(), second.stop()]);
    await Promise.all([one.stop(), two.stop()]);
  });

  it("continues where it was after its database backend is killed repeatedly", async () => {
    const { receiver, events } = await receiverWith(3_000);
    const replay = await request(receiver);
    const doomed = openPool({ url: served.url, applicationName: "doomed" });
    start(doomed);
    for (const atLeast of [500, 1_500]) {
      await eventually(
        async () => {
          const killed = await served.db.query(
            `select pg_terminate_backend(pid) from pg_stat_activity
              where application_name = 'doomed' and datname = current_database() and xact_start is not null`,
          );
          expect(killed.length).toBeGreaterThan(0);
        },
        { everyMs: 1 },
      ).catch(() => {});
      await eventually(async () => expect((await get(receiver, replay.id)).queued).toBeGreaterThanOrEqual(atLeast));
    }
    expect(await finished(receiver, replay)).toMatchObject({ queued: 3_000, total: 3_000 });
    expect((await queuedEvents(receiver)).toSorted()).toEqual(events);
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    await doomed.stop();
  });

  it("rolls back the deliveries of a step that fails after writing them", async () => {
    const { receiver, events } = await receiverWith(700);
    const replay = await request(receiver);
    await served.db.query(
      `create function webhook.refuse_${replay.id}() returns trigger language plpgsql as 'begin raise exception ''interrupted''; end';
       create trigger refuse_${replay.id} before update on webhook.replays for each row when (old.id = '${replay.id}')
         execute function webhook.refuse_${replay.id}()`,
    );
    await expect(replayBatch(served.db, [])).rejects.toThrow("interrupted");
    expect(await queuedEvents(receiver)).toEqual([]);
    await served.db.query(`drop trigger refuse_${replay.id} on webhook.replays`);
    start();
    await finished(receiver, replay);
    expect(await queuedEvents(receiver)).toEqual(events);
  });

  it("pauses while its receiver has too many pending deliveries, without delaying other replays", async () => {
    const { receiver: full } = await receiverWith(10);
    await served.addDeliveries(full, REPLAY_PENDING_MAX + 1);
    const paused = await request(full);
    const { receiver, events } = await receiverWith(10);
    const replay = await request(receiver);
    start();
    await finished(receiver, replay);
    expect(await queuedEvents(receiver)).toEqual(events);
    expect(await get(full, paused.id)).toMatchObject({ queued: 0, total: 10, finished_at: null });
    await served.db.query("delete from webhook.deliveries where id in (select id from webhook.deliveries where receiver_id = $1 limit 1)", [
      full.id,
    ]);
    expect(await finished(full, paused)).toMatchObject({ queued: 10 });
  });

  it("of a disabled receiver queues held deliveries", async () => {
    const { receiver, events } = await receiverWith(10);
    await served.receivers.disableReceiver(keyOf(receiver));
    const replay = await request(receiver);
    start();
    await finished(receiver, replay);
    const { deliveries } = await served.deliveriesRpc.listDeliveries({ ...keyOf(receiver), states: [], page_size: 0, state: "held" });
    expect(deliveries.map(({ event_id }) => event_id).toReversed()).toEqual(events);
    expect(new Set(deliveries.map(({ replay_id }) => replay_id))).toEqual(new Set([replay.id]));
  });

  it("neither blocks nor deadlocks with the deletion of its receiver", async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => receiverWith(600)));
    await Promise.all(all.map(({ receiver }) => request(receiver)));
    start();
    start();
    await Promise.all(all.map(({ receiver: { brand_id, id } }) => served.receivers.deleteReceiver({ brand_id, receiver_id: id })));
    expect(
      await served.db.query("select from webhook.replays where receiver_id = any($1::text[])", [all.map(({ receiver }) => receiver.id)]),
    ).toEqual([]);
  });

  it("waits for a lane that another transaction has locked, without delaying other replays", async () => {
    const [{ receiver: busy }, { receiver }] = [await receiverWith(10), await receiverWith(10)];
    const [blocked, replay] = [await request(busy), await request(receiver)];
    start();
    await served.db.transaction(async (sql) => {
      await sql.query("select from webhook.lanes where receiver_id = $1 for update", [busy.id]);
      await finished(receiver, replay);
    });
    expect(await finished(busy, blocked)).toMatchObject({ queued: 10 });
  });
});

describe("a replay of failed ones", () => {
  it("queues each failed event that is not accepted and not in progress once, in the order of the events", async () => {
    const receiver = await served.create(newBrand());
    const other = await served.create(receiver.brand_id);
    const late = await failure(receiver, { at: at("10:00:00.000") });
    const early = await failure(receiver, { at: at("09:00:00.000") });
    await failure(receiver, { at: at("09:30:00.000"), event: early });
    const accepted = await failure(receiver, { at: at("09:00:00.001") });
    await addDelivery(served.db, receiver, { at: at("09:40:00.000"), state: "delivered", event: accepted });
    const sending = await failure(receiver, { at: at("09:00:00.002") });
    await addDelivery(served.db, receiver, { at: at("09:40:00.000"), state: "sending", event: sending });
    const elsewhere = await failure(other, { at: at("09:00:00.003") });
    await addDelivery(served.db, receiver, { at: at("09:00:00.003"), event: elsewhere });
    // Accepted by the other receiver only.
    await addDelivery(served.db, other, { at: at("10:00:00.001"), event: late });
    await failure(receiver, { at: at("09:00:00.004"), type: "campaign.settled" });
    await failure(receiver, { at: at("09:00:00.005"), test: true });
    await failure(receiver, { at: SINCE });
    await addEvents(served.db, { brandId: receiver.brand_id, from: at("09:00:00.000"), count: 5 });
    expect(await count(receiver, FAILED)).toBe(2);
    const replay = await request(receiver, FAILED);
    expect(replay).toMatchObject({ failed_only: true, queued: 0, total: 2, finished_at: null, cancelled_at: null });
    start();
    expect(await finished(receiver, replay)).toMatchObject({ queued: 2, total: 2, failed_only: true, cancelled_at: null });
    expect(await queuedEvents(receiver)).toEqual([early, late]);
    expect(await queuedEvents(other)).toEqual([]);
    // They are in progress now.
    expect(await count(receiver, FAILED)).toBe(0);
  });

  it("stops at its end, which may be in the future", async () => {
    const receiver = await served.create(newBrand());
    const events = await addFailed(receiver, 5);
    const until = at("08:00:00.002");
    expect(await count(receiver, { ...FAILED, until })).toBe(3);
    expect(await count(receiver, { until })).toBe(3);
    const replay = await request(receiver, { ...FAILED, until });
    expect(replay).toMatchObject({ until, total: 3 });
    start();
    await finished(receiver, replay);
    expect(await queuedEvents(receiver)).toEqual(events.slice(0, 3));
    const future = await request(receiver, { until: "2126-11-20T00:00:00.000Z" });
    expect(future).toMatchObject({ until: future.started_at, total: 5 });
  });

  it("skips an event that is no longer stored, and continues behind it", async () => {
    const receiver = await served.create(newBrand());
    const events = await addFailed(receiver, REPLAY_BATCH_EVENTS + 5);
    await served.db.query("delete from webhook.events where id = $1", [events[1]]);
    const replay = await request(receiver, FAILED);
    start();
    expect(await finished(receiver, replay)).toMatchObject({ queued: REPLAY_BATCH_EVENTS + 4 });
    const gone = await served.create(newBrand());
    await addDelivery(served.db, gone, { at: new Date(Date.now() - 40 * 86_400_000).toISOString(), state: "failed" });
    // Other tests have left deliveries in progress, which would keep the days before theirs.
    await served.db.query("update webhook.deliveries set lease_until = now() - interval '1 s' where state = 'sending'");
    await dropOldDays(served.db, 30);
    expect(await count(gone, { ...FAILED, since: "2026-01-01T00:00:00Z" })).toBe(0);
  });
});

describe("the latest replay", () => {
  it("is the one in progress, else the last one", async () => {
    const receiver = await served.create(newBrand());
    await addFailed(receiver, 2);
    expect(await latest(receiver)).toEqual({ replay: null });
    const first = await request(receiver, FAILED);
    expect(await latest(receiver)).toMatchObject({ replay: { id: first.id, queued: 0, total: 2, finished_at: null } });
    start();
    await finished(receiver, first);
    expect(await latest(receiver)).toMatchObject({ replay: { id: first.id, queued: 2, finished_at: expect.any(String) } });
    await stopWorkers();
    const second = await request(receiver, {});
    expect(await latest(receiver)).toMatchObject({ replay: { id: second.id, finished_at: null } });
  });

  it("of another brand's receiver is not_found, as its count is", async () => {
    const receiver = await served.create(newBrand());
    const theirs = { ...receiver, brand_id: newBrand() };
    await expect(latest(theirs)).rejects.toMatchObject({ kind: "not_found", field: "receiver_id" });
    await expect(count(theirs, FAILED)).rejects.toMatchObject({ kind: "not_found", field: "receiver_id" });
  });
});

describe("cancelling a replay", () => {
  it("ends it where it is, keeps what is queued, and allows another", async () => {
    const receiver = await served.create(newBrand());
    const events = await addFailed(receiver, REPLAY_BATCH_EVENTS + 100);
    const replay = await request(receiver, FAILED);
    const batch = await replayBatch(served.db, []);
    expect(batch).toMatchObject({ id: replay.id, queued: REPLAY_BATCH_EVENTS });
    const cancelled = await cancel(receiver, replay.id);
    expect(cancelled).toMatchObject({ queued: REPLAY_BATCH_EVENTS, total: REPLAY_BATCH_EVENTS, cancelled_at: cancelled.finished_at });
    expect(cancelled.cancelled_at).toMatch(/Z$/);
    expect(await replayBatch(served.db, [])).toBeUndefined();
    expect(await cancel(receiver, replay.id)).toEqual(cancelled);
    expect(await queuedEvents(receiver)).toEqual(events.slice(0, REPLAY_BATCH_EVENTS));
    expect(await request(receiver, FAILED)).toMatchObject({ total: 100 });
  });

  it("of one that has finished changes nothing, and another brand's is not_found", async () => {
    const receiver = await served.create(newBrand());
    const replay = await request(receiver, {});
    await expect(cancel({ brand_id: newBrand() }, replay.id)).rejects.toMatchObject({ kind: "not_found", field: "replay_id" });
    start();
    const done = await finished(receiver, replay);
    expect(await cancel(receiver, replay.id)).toEqual(done);
  });

  it("while workers advance it queues nothing afterwards", async () => {
    const receiver = await served.create(newBrand());
    await addFailed(receiver, 4 * REPLAY_BATCH_EVENTS);
    const replay = await request(receiver, FAILED);
    start();
    await eventually(async () => expect((await get(receiver, replay.id)).queued).toBeGreaterThan(0), { everyMs: 1 });
    const { queued } = await cancel(receiver, replay.id);
    await stopWorkers();
    expect(await queuedEvents(receiver)).toHaveLength(queued);
    expect(await get(receiver, replay.id)).toMatchObject({ queued, finished_at: expect.any(String) });
  });
});
