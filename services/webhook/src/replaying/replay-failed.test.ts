import type { Receiver, Replay, ReplayEventsRequest } from "@brand-records/proto/webhook/v1";
import { openLog } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { addDelivery, type NewDelivery } from "../../test/add-delivery.ts";
import { addEvents } from "../../test/add-events.ts";
import { callContext, newBrand, present, useReceivers } from "../../test/serve-receivers.ts";
import { dropOldDays } from "../storage/daily-partitions.ts";
import { REPLAY_BATCH_EVENTS, replayBatch } from "./replay-batch.ts";
import { startReplayWorker, type ReplayWorker } from "./replay-worker.ts";

const SINCE = "2026-11-19T00:00:00.000Z";
const at = (time: string): string => `2026-11-20T${time}Z`;
const log = openLog("webhook", "silent");

const served = useReceivers();

let worker: ReplayWorker | undefined;
const start = (): void => void (worker = startReplayWorker(served.db, log));
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await served.db.query("update webhook.replays set finished_at = now() where finished_at is null or finished_at = 'infinity'");
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
const request = async (receiver: Receiver, more: More = FAILED): Promise<Replay> =>
  present((await served.deliveriesRpc.replayEvents(requestOf(receiver, more), callContext())).replay);
const count = async (receiver: Receiver, more: More = FAILED): Promise<number> =>
  (await served.deliveriesRpc.countReplay(requestOf(receiver, more), callContext())).events;
const get = async ({ brand_id }: Receiver, replay_id: string): Promise<Replay> =>
  present((await served.deliveriesRpc.getReplay({ brand_id, replay_id }, callContext())).replay);
const latest = ({ brand_id, id }: Receiver) => served.deliveriesRpc.getLatestReplay({ brand_id, receiver_id: id }, callContext());
const cancel = async ({ brand_id }: Pick<Receiver, "brand_id">, replay_id: string): Promise<Replay> =>
  present((await served.deliveriesRpc.cancelReplay({ brand_id, replay_id }, callContext())).replay);
const finished = (receiver: Receiver, { id }: Replay): Promise<Replay> =>
  eventually(async () => {
    const replay = await get(receiver, id);
    expect(replay.finished_at).not.toBeNull();
    return replay;
  });

/** Returns the events with a pending delivery at attempt 0, in the order in which they will be sent. */
const queuedEvents = async ({ id }: Receiver): Promise<string[]> =>
  (
    await served.db.query<{ event_id: string }>(
      "select event_id from webhook.deliveries where receiver_id = $1 and state = 'pending' order by due_at, id",
      [id],
    )
  ).map(({ event_id }) => event_id);

const failure = async (receiver: Receiver, more: Partial<NewDelivery> & { readonly at: string }): Promise<string> =>
  (await addDelivery(served.db, receiver, { state: "failed", ...more })).event_id;

/** Adds events with a failed delivery each, a millisecond apart. Returns the events in their order. */
async function addFailed(receiver: Receiver, total: number): Promise<string[]> {
  const events = await addEvents(served.db, { brandId: receiver.brand_id, from: at("08:00:00.000"), count: total });
  await served.db.query(
    `insert into webhook.past_deliveries (id, brand_id, receiver_id, event_id, event_created_at, state, attempts, test, created_at)
     select 'dlv_' || substr(e.id, 5), e.brand_id, $1, e.id, e.created_at, 'failed', 10, false, e.created_at
       from webhook.events e where e.brand_id = $2 on conflict do nothing`,
    [receiver.id, receiver.brand_id],
  );
  return events;
}

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
    expect(await count(receiver)).toBe(2);
    const replay = await request(receiver);
    expect(replay).toMatchObject({ failed_only: true, queued: 0, total: 2, finished_at: null, cancelled_at: null });
    start();
    expect(await finished(receiver, replay)).toMatchObject({ queued: 2, total: 2, failed_only: true, cancelled_at: null });
    expect(await queuedEvents(receiver)).toEqual([early, late]);
    expect(await queuedEvents(other)).toEqual([]);
    // They are in progress now.
    expect(await count(receiver)).toBe(0);
  });

  it("over several batches neither loses nor repeats an event", async () => {
    const receiver = await served.create(newBrand());
    const events = await addFailed(receiver, 2 * REPLAY_BATCH_EVENTS + 10);
    expect(await count(receiver)).toBe(events.length);
    const replay = await request(receiver);
    start();
    const second = startReplayWorker(served.deps.db, log);
    expect(await finished(receiver, replay)).toMatchObject({ queued: events.length });
    await second.stop();
    expect(await queuedEvents(receiver)).toEqual(events);
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

  it("twenty times concurrently makes one replay; another one is refused until it ends", async () => {
    const receiver = await served.create(newBrand());
    await addFailed(receiver, 3);
    const until = at("23:00:00.000");
    const replays = await Promise.all(Array.from({ length: 20 }, () => request(receiver, { ...FAILED, until })));
    expect(new Set(replays.map(({ id }) => id)).size).toBe(1);
    for (const more of [{}, FAILED, { until }, { ...FAILED, until: at("22:00:00.000") }]) {
      await expect(request(receiver, more)).rejects.toMatchObject({
        kind: "request_conflict",
        message: expect.stringContaining(present(replays[0]).id),
      });
    }
    start();
    await finished(receiver, present(replays[0]));
    expect(await request(receiver, {})).toMatchObject({ failed_only: false, total: 3 });
  });

  it("skips an event that is no longer stored, and continues behind it", async () => {
    const receiver = await served.create(newBrand());
    const events = await addFailed(receiver, REPLAY_BATCH_EVENTS + 5);
    await served.db.query("delete from webhook.events where id = $1", [events[1]]);
    const replay = await request(receiver);
    start();
    expect(await finished(receiver, replay)).toMatchObject({ queued: REPLAY_BATCH_EVENTS + 4 });
    const gone = await served.create(newBrand());
    await addDelivery(served.db, gone, { at: new Date(Date.now() - 40 * 86_400_000).toISOString(), state: "failed" });
    // Other tests have left deliveries in progress, which would keep the days before theirs.
    await served.db.query("update webhook.deliveries set lease_until = now() - interval '1 s' where state = 'sending'");
    await dropOldDays(served.db, 30);
    expect(await count(gone, { ...FAILED, since: "2026-01-01T00:00:00Z" })).toBe(0);
  });

  it.each<[More, string]>([
    [{ until: SINCE }, "until"],
    [{ until: "tomorrow" }, "until"],
    [{ since: "2126-11-20T00:00:00Z" }, "since"],
  ])("refuses %j, and so does its count", async (more, field) => {
    const receiver = await served.create(newBrand());
    await expect(request(receiver, { ...FAILED, ...more })).rejects.toMatchObject({ kind: "invalid_request", field });
    await expect(count(receiver, { ...FAILED, ...more })).rejects.toMatchObject({ kind: "invalid_request", field });
  });
});

describe("the latest replay", () => {
  it("is the one in progress, else the last one", async () => {
    const receiver = await served.create(newBrand());
    await addFailed(receiver, 2);
    expect(await latest(receiver)).toEqual({ replay: null });
    const first = await request(receiver);
    expect(await latest(receiver)).toMatchObject({ replay: { id: first.id, queued: 0, total: 2, finished_at: null } });
    start();
    await finished(receiver, first);
    expect(await latest(receiver)).toMatchObject({ replay: { id: first.id, queued: 2, finished_at: expect.any(String) } });
    await worker?.stop();
    const second = await request(receiver, {});
    expect(await latest(receiver)).toMatchObject({ replay: { id: second.id, finished_at: null } });
  });

  it("of another brand's receiver is not_found, as its count is", async () => {
    const receiver = await served.create(newBrand());
    const theirs = { ...receiver, brand_id: newBrand() };
    await expect(latest(theirs)).rejects.toMatchObject({ kind: "not_found", field: "receiver_id" });
    await expect(count(theirs)).rejects.toMatchObject({ kind: "not_found", field: "receiver_id" });
  });
});

describe("cancelling a replay", () => {
  it("ends it where it is, keeps what is queued, and allows another", async () => {
    const receiver = await served.create(newBrand());
    const events = await addFailed(receiver, REPLAY_BATCH_EVENTS + 100);
    const replay = await request(receiver);
    const batch = await replayBatch(served.db, []);
    expect(batch).toMatchObject({ id: replay.id, queued: REPLAY_BATCH_EVENTS });
    const cancelled = await cancel(receiver, replay.id);
    expect(cancelled).toMatchObject({ queued: REPLAY_BATCH_EVENTS, total: REPLAY_BATCH_EVENTS, cancelled_at: cancelled.finished_at });
    expect(cancelled.cancelled_at).toMatch(/Z$/);
    expect(await replayBatch(served.db, [])).toBeUndefined();
    expect(await cancel(receiver, replay.id)).toEqual(cancelled);
    expect(await queuedEvents(receiver)).toEqual(events.slice(0, REPLAY_BATCH_EVENTS));
    expect(await request(receiver)).toMatchObject({ total: 100 });
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
    const replay = await request(receiver);
    start();
    await eventually(async () => expect((await get(receiver, replay.id)).queued).toBeGreaterThan(0), { everyMs: 1 });
    const { queued } = await cancel(receiver, replay.id);
    await worker?.stop();
    expect(await queuedEvents(receiver)).toHaveLength(queued);
    expect(await get(receiver, replay.id)).toMatchObject({ queued, finished_at: expect.any(String) });
  });
});
