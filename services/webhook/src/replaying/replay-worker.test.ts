import { openPool, type Database } from "@brand-records/postgres";
import type { Receiver, Replay, ReplayEventsRequest } from "@brand-records/proto/webhook/v1";
import { openLog } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { addEvents } from "../../test/add-events.ts";
import { callContext, newBrand, present, useReceivers } from "../../test/serve-receivers.ts";
import { REPLAY_BATCH_EVENTS, REPLAY_PENDING_MAX, replayBatch } from "./replay-batch.ts";
import { startReplayWorker, type ReplayWorker } from "./replay-worker.ts";

const FROM = "2026-01-20T08:30:00.000Z";
/** A time before every event. */
const SINCE = "2026-01-19T00:00:00.000Z";
const log = openLog("webhook", "silent");

const served = useReceivers();

const workers: ReplayWorker[] = [];
const start = (db: Database = served.db): ReplayWorker => {
  const worker = startReplayWorker(db, log);
  workers.push(worker);
  return worker;
};
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  await served.db.query("update webhook.replays set finished_at = now() where finished_at is null");
});

type More = Partial<ReplayEventsRequest>;

const request = async ({ brand_id, id }: Receiver, since = SINCE, more: More = {}): Promise<Replay> =>
  present(
    (await served.deliveriesRpc.replayEvents({ brand_id, receiver_id: id, since, failed_only: false, ...more }, callContext())).replay,
  );
const get = async (brand_id: string, replay_id: string): Promise<Replay> =>
  present((await served.deliveriesRpc.getReplay({ brand_id, replay_id }, callContext())).replay);
const finished = ({ brand_id }: Receiver, { id }: Replay): Promise<Replay> =>
  eventually(async () => {
    const replay = await get(brand_id, id);
    expect(replay.finished_at).not.toBeNull();
    return replay;
  });

/** Returns the events queued for a receiver, in the order in which they will be sent. */
const queuedEvents = async ({ id }: Pick<Receiver, "id">): Promise<string[]> =>
  (
    await served.db.query<{ event_id: string }>("select event_id from webhook.deliveries where receiver_id = $1 order by due_at, id", [id])
  ).map(({ event_id }) => event_id);

async function receiverWith(count: number): Promise<{ receiver: Receiver; events: string[] }> {
  const receiver = await served.create(newBrand());
  return { receiver, events: await addEvents(served.db, { brandId: receiver.brand_id, from: FROM, count }) };
}

describe("requesting a replay", () => {
  it("returns the number of events before any is queued", async () => {
    const { receiver } = await receiverWith(1_200);
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
    expect(await get(receiver.brand_id, replay.id)).toEqual(replay);
    expect(await queuedEvents(receiver)).toEqual([]);
  });

  it("twenty times concurrently makes one replay", async () => {
    const { receiver } = await receiverWith(3);
    const replays = await Promise.all(Array.from({ length: 20 }, () => request(receiver)));
    expect(new Set(replays.map(({ id }) => id)).size).toBe(1);
    expect(await served.db.query("select from webhook.replays where receiver_id = $1", [receiver.id])).toHaveLength(1);
  });

  it("accepts any offset, and reads two spellings of one time as the same", async () => {
    const { receiver } = await receiverWith(1);
    const replay = await request(receiver, "2026-01-19T08:00:00+08:00");
    expect(replay.since).toBe(SINCE);
    expect((await request(receiver, "2026-01-19T00:00:00.0009Z")).id).toBe(replay.id);
  });

  it("for another time is refused while one is in progress, and makes a new one afterwards", async () => {
    const { receiver } = await receiverWith(1);
    const first = await request(receiver);
    await expect(request(receiver, FROM)).rejects.toMatchObject({ kind: "request_conflict", message: expect.stringContaining(first.id) });
    start();
    await finished(receiver, first);
    expect((await request(receiver)).id).not.toBe(first.id);
  });

  it.each(["yesterday", "2026-01-19", "2026-01-19T00:00Z", "2026-02-30T00:00:00Z", "0000-01-01T00:00:00Z", "2026-01-19T00:00:00", ""])(
    "refuses %j",
    async (since) => {
      const receiver = await served.create(newBrand());
      await expect(request(receiver, since)).rejects.toMatchObject({ kind: "invalid_request", field: "since" });
    },
  );

  it("refuses a time in the future", async () => {
    const receiver = await served.create(newBrand());
    const since = new Date(Date.now() + 60_000).toISOString();
    await expect(request(receiver, since)).rejects.toMatchObject({ kind: "invalid_request", field: "since" });
  });

  it("returns not_found for another brand's receiver and replay, and after the receiver was deleted", async () => {
    const { receiver } = await receiverWith(1);
    const theirs = newBrand();
    await expect(request({ ...receiver, brand_id: theirs })).rejects.toMatchObject({ kind: "not_found", field: "receiver_id" });
    const replay = await request(receiver);
    await expect(get(theirs, replay.id)).rejects.toMatchObject({ kind: "not_found", field: "replay_id" });
    await served.receivers.deleteReceiver({ brand_id: receiver.brand_id, receiver_id: receiver.id }, callContext());
    await expect(get(receiver.brand_id, replay.id)).rejects.toMatchObject({ kind: "not_found" });
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
    expect(replay.total).toBe(1_200);
    start();
    expect(await finished(receiver, replay)).toMatchObject({ queued: 1_200, total: 1_200 });
    expect(await queuedEvents(receiver)).toEqual(events);
    expect(await queuedEvents(bystander)).toEqual([]);
    expect(
      await served.db.query("select attempt, count(*) as n from webhook.deliveries where receiver_id = $1 group by attempt", [receiver.id]),
    ).toEqual([{ attempt: 0, n: 1_200 }]);
    const awake = "select next_due <= now() as due from webhook.lanes where receiver_id = any($1::text[]) order by receiver_id = $2";
    expect(await served.db.query(awake, [[receiver.id, bystander.id], receiver.id])).toEqual([{ due: false }, { due: true }]);
  });

  it("without events finishes immediately", async () => {
    const receiver = await served.create(newBrand());
    const replay = await request(receiver);
    start();
    expect(await finished(receiver, replay)).toMatchObject({ queued: 0, total: 0 });
  });

  it("by two concurrent workers neither loses nor repeats an event", async () => {
    const targets = await Promise.all([receiverWith(2_300), receiverWith(1_700), receiverWith(REPLAY_BATCH_EVENTS)]);
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
      await eventually(async () => expect((await get(receiver.brand_id, replay.id)).queued).toBeGreaterThanOrEqual(atLeast));
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
    expect(await get(full.brand_id, paused.id)).toMatchObject({ queued: 0, total: 10, finished_at: null });
    await served.db.query("delete from webhook.deliveries where id in (select id from webhook.deliveries where receiver_id = $1 limit 1)", [
      full.id,
    ]);
    expect(await finished(full, paused)).toMatchObject({ queued: 10 });
  });

  it("of a disabled receiver queues held deliveries", async () => {
    const { receiver, events } = await receiverWith(10);
    await served.receivers.disableReceiver({ brand_id: receiver.brand_id, receiver_id: receiver.id }, callContext());
    const replay = await request(receiver);
    start();
    await finished(receiver, replay);
    const { deliveries } = await served.deliveriesRpc.listDeliveries(
      { brand_id: receiver.brand_id, receiver_id: receiver.id, states: [], page_size: 0, state: "held" },
      callContext(),
    );
    expect(deliveries.map(({ event_id }) => event_id).toReversed()).toEqual(events);
    expect(new Set(deliveries.map(({ replay_id }) => replay_id))).toEqual(new Set([replay.id]));
  });

  it("neither blocks nor deadlocks with the deletion of its receiver", async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => receiverWith(600)));
    await Promise.all(all.map(({ receiver }) => request(receiver)));
    start();
    start();
    await Promise.all(
      all.map(({ receiver: { brand_id, id } }) => served.receivers.deleteReceiver({ brand_id, receiver_id: id }, callContext())),
    );
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
