import type { Delivery, ListDeliveriesRequest, Receiver } from "@brand-records/proto/webhook/v1";
import { addEvents } from "../../test/add-events.ts";
import { keyOf, newBrand, present, useReceivers } from "../../test/serve-receivers.ts";

const FROM = "2026-11-20T08:30:00.000Z";

const served = useReceivers();

type Filters = Partial<ListDeliveriesRequest>;

const list = ({ brand_id, id }: Receiver, filters: Filters = {}) =>
  served.deliveriesRpc.listDeliveries({ brand_id, receiver_id: id, states: [], page_size: 0, ...filters });
const get = (brand_id: string, delivery_id: string) => served.deliveriesRpc.getDelivery({ brand_id, delivery_id });
const replay = async (brand_id: string, delivery_id: string, pending_only?: boolean): Promise<Delivery> =>
  present((await served.deliveriesRpc.replayDelivery({ brand_id, delivery_id, ...(pending_only && { pending_only }) })).delivery);

/** Adds events, each with a pending delivery. Returns the deliveries' ids, oldest first. */
async function queue({ brand_id, id }: Receiver, count: number): Promise<string[]> {
  await addEvents(served.db, { brandId: brand_id, from: FROM, count });
  const rows = await served.db.query<{ id: string }>(
    `insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type)
     select 'dlv_' || substr(e.id, 5), $1, e.id, e.created_at, e.type from webhook.events e where e.brand_id = $2
     on conflict do nothing returning id`,
    [id, brand_id],
  );
  return rows.map((row) => row.id).toSorted();
}

const startSending = (ids: readonly string[]) =>
  served.db.query(
    `update webhook.deliveries set state = 'sending', attempt = attempt + 1, lease = gen_random_uuid(), lease_until = now() + interval '1 min'
      where id = any($1::text[])`,
    [ids],
  );

const finish = (brandId: string, ids: readonly string[], state: "delivered" | "failed") =>
  served.db.query(
    `with finished as (delete from webhook.deliveries where id = any($1::text[]) returning *)
     insert into webhook.past_deliveries (id, brand_id, receiver_id, event_id, event_created_at, event_type, state, attempts, test, created_at,
                                          attempt_id, started_at, duration_ms, outcome)
     select id, $2, receiver_id, event_id, event_created_at, event_type, $3, 2, test, created_at, 'att_' || substr(id, 5) || 2, now(), 12, 'refused' from finished`,
    [ids, brandId, state],
  );

interface Answer {
  readonly http_status?: number;
  readonly error?: string;
  readonly response?: Buffer;
}

const addAttempt = (id: string, attempt: number, more: Answer = {}) =>
  served.db.query(
    `insert into webhook.attempts (id, delivery_id, event_created_at, attempt, started_at, duration_ms, outcome, http_status, error, response)
     select 'att_' || $1 || $2::int, 'dlv_' || $1, e.created_at, $2::int, now(), 12, 'refused', $3, $4, $5
       from webhook.events e where e.id = 'evt_' || $1`,
    [id.slice(4), attempt, more.http_status ?? null, more.error ?? null, more.response ?? null],
  );

const answerLast = (id: string, { http_status, error }: Answer) =>
  served.db.query("update webhook.past_deliveries set http_status = $2, error = $3 where id = $1", [
    id,
    http_status ?? null,
    error ?? null,
  ]);

const idsOf = (deliveries: readonly Delivery[]): string[] => deliveries.map(({ id }) => id);

/** Adds five deliveries, oldest first: pending, sending, delivered, failed, and one more pending. */
async function addOneInEachState(): Promise<{ receiver: Receiver; all: [string, string, string, string, string] }> {
  const receiver = await served.create(newBrand());
  const all = (await queue(receiver, 5)) as [string, string, string, string, string];
  await startSending([all[1]]);
  await finish(receiver.brand_id, [all[2]], "delivered");
  await finish(receiver.brand_id, [all[3]], "failed");
  return { receiver, all };
}

describe("a list", () => {
  it("contains every delivery, in flight or finished, newest first", async () => {
    const { receiver, all } = await addOneInEachState();
    const { deliveries, next_after_id } = await list(receiver);
    expect(idsOf(deliveries)).toEqual(all.toReversed());
    expect(next_after_id).toBeNull();
    expect(deliveries.map(({ state }) => state)).toEqual(["pending", "failed", "delivered", "sending", "pending"]);
    expect(deliveries[0]).toEqual({
      id: all[4],
      receiver_id: receiver.id,
      event_id: `evt_${all[4].slice(4)}`,
      event_type: "payout.paid",
      state: "pending",
      attempts: 0,
      test: false,
      created_at: deliveries[0]?.created_at,
      due_at: expect.stringMatching(/Z$/),
      finished_at: null,
      sign_with_next: false,
      repeat_of: null,
      replay_id: null,
      record_id: "po_1",
      last_outcome: null,
      last_http_status: null,
      last_duration_ms: null,
      sending_since: null,
      deadline_ms: null,
    });
    expect(deliveries[1]).toMatchObject({ attempts: 2, due_at: null, finished_at: expect.stringMatching(/Z$/) });
    expect(deliveries[3]).toMatchObject({ attempts: 1, due_at: null, finished_at: null });
  });

  it("shows the last finished attempt of each delivery, and the attempt in progress", async () => {
    const { receiver, all } = await addOneInEachState();
    const [, sending, delivered, failed] = all;
    await answerLast(failed, { http_status: 503 });
    await addAttempt(failed, 1, { http_status: 500 });
    await answerLast(delivered, { http_status: 204 });
    const { deliveries } = await list(receiver);
    expect(deliveries.map(({ last_outcome, last_http_status }) => [last_outcome, last_http_status])).toEqual([
      [null, null],
      ["refused", 503],
      ["refused", 204],
      [null, null],
      [null, null],
    ]);
    for (const delivery of [present(deliveries[3]), present((await get(receiver.brand_id, sending)).delivery)]) {
      expect(delivery).toMatchObject({ deadline_ms: 15_000, attempts: 1 });
      // The lease of startSending has 60 s left, of the 30 s that a lease takes.
      expect(Math.abs(Date.parse(present(delivery.sending_since)) - (Date.now() + 30_000))).toBeLessThan(10_000);
    }
  });

  it("and one delivery show until when sending is paused, and after how many failures", async () => {
    const { receiver, all } = await addOneInEachState();
    const pausedBy = async (openUntil: string): Promise<unknown[]> => {
      const update = `update webhook.lanes set failed_in_a_row = 11, open_until = ${openUntil} where receiver_id = $1`;
      await served.db.query(update, [receiver.id]);
      const read = [await list(receiver), await get(receiver.brand_id, all[0]), await served.get(receiver)];
      return read.map(({ paused_until, failures_in_a_row }) => [paused_until, failures_in_a_row]);
    };
    const paused = ["2126-11-21T02:03:10.000Z", 11];
    expect(await pausedBy("'2126-11-21T02:03:10Z'")).toEqual([paused, paused, paused]);
    const over = [null, 11];
    expect(await pausedBy("now()")).toEqual([over, over, over]);
    expect(await pausedBy("'-infinity'")).toEqual([over, over, over]);
    // A disabled receiver waits for a member, not for the pause.
    await pausedBy("'2126-11-21T02:03:10Z'");
    await served.receivers.disableReceiver(keyOf(receiver));
    expect(await list(receiver)).toMatchObject({ paused_until: null });
    expect(await list(receiver, { state: "pending" })).toMatchObject({ deliveries: [], paused_until: null, failures_in_a_row: 11 });
  });

  it("shows the type also once the event is deleted", async () => {
    const { receiver } = await addOneInEachState();
    await served.db.query("delete from webhook.events where brand_id = $1", [receiver.brand_id]);
    expect((await list(receiver)).deliveries.map(({ event_type }) => event_type)).toEqual(Array(5).fill("payout.paid"));
  });

  it("contains each of 1,000 deliveries once over all pages, while some finish and others start to be sent", async () => {
    const receiver = await served.create(newBrand());
    const all = await queue(receiver, 1_000);
    const moving = [...all];
    const seen: string[] = [];
    for (let after_id: string | null = null; ;) {
      const page: Awaited<ReturnType<typeof list>> = await list(receiver, { page_size: 37, after_id });
      seen.push(...idsOf(page.deliveries));
      if (page.next_after_id == null) break;
      after_id = page.next_after_id;
      // Finishes deliveries from both ends: the newest were on earlier pages, the oldest are on later pages.
      await finish(receiver.brand_id, [...moving.splice(0, 9), ...moving.splice(-9)], seen.length % 2 === 0 ? "delivered" : "failed");
      await startSending(moving.slice(0, 5));
    }
    expect(seen).toEqual(all.toReversed());
  });

  it.each<[Filters, string]>([
    [{ page_size: 201 }, "page_size"],
    [{ page_size: -1 }, "page_size"],
    [{ state: "lost" }, "state"],
    [{ after_id: "evt_1" }, "after_id"],
  ])("refuses %j", async (filters, field) => {
    const receiver = await served.create(newBrand());
    await expect(list(receiver, filters)).rejects.toMatchObject({ kind: "invalid_request", field });
  });
});

describe("one delivery", () => {
  it("is returned with its attempts, oldest first, and their responses", async () => {
    const { receiver, all } = await addOneInEachState();
    const [, , , failed] = all;
    await answerLast(failed, { error: "no connection" });
    await addAttempt(failed, 1, { http_status: 500, response: Buffer.from([0x6e, 0x6f, 0x00, 0xff]) });
    const { delivery, attempts } = await get(receiver.brand_id, failed);
    expect(delivery).toMatchObject({ id: failed, state: "failed", attempts: 2 });
    expect(attempts).toMatchObject([
      { attempt: 1, http_status: 500, error: null, outcome: "refused", duration_ms: 12 },
      { attempt: 2, http_status: null, error: "no connection" },
    ]);
    expect(attempts.map(({ response }) => [...response])).toEqual([[0x6e, 0x6f, 0x00, 0xff], []]);
  });

  it("is returned in every state, and never to another brand", async () => {
    const { receiver, all } = await addOneInEachState();
    for (const id of all) {
      expect((await get(receiver.brand_id, id)).delivery).toMatchObject({ id });
      await expect(get(newBrand(), id)).rejects.toMatchObject({ kind: "not_found", field: "delivery_id" });
      await expect(replay(newBrand(), id)).rejects.toMatchObject({ kind: "not_found", field: "delivery_id" });
    }
    await expect(get(receiver.brand_id, "dlv_none")).rejects.toMatchObject({ kind: "not_found" });
    await expect(get(receiver.brand_id, "rcv_1")).rejects.toMatchObject({ kind: "invalid_request", field: "delivery_id" });
    expect((await list(receiver)).deliveries).toHaveLength(5);
  });
});

describe("replaying a delivery", () => {
  const makeIdle = (receiver: Receiver) =>
    served.db.query("update webhook.lanes set next_due = 'infinity' where receiver_id = $1", [receiver.id]);
  const isLaneDue = async ({ id }: Receiver): Promise<boolean> =>
    present((await served.db.query<{ due: boolean }>("select next_due <= now() as due from webhook.lanes where receiver_id = $1", [id]))[0])
      .due;

  it.each([
    ["delivered", 2],
    ["failed", 3],
  ])("that is %s makes a new one of the same event, from attempt 1, due now", async (_, at) => {
    const { receiver, all } = await addOneInEachState();
    const finished = present(all[at]);
    await makeIdle(receiver);
    const newDelivery = await replay(receiver.brand_id, finished);
    expect(newDelivery).toMatchObject({
      receiver_id: receiver.id,
      event_id: `evt_${finished.slice(4)}`,
      state: "pending",
      attempts: 0,
      test: false,
    });
    expect(all).not.toContain(newDelivery.id);
    expect((await get(receiver.brand_id, finished)).delivery).toMatchObject({ finished_at: expect.any(String) });
    expect(await isLaneDue(receiver)).toBe(true);
    expect(newDelivery).toMatchObject({ repeat_of: finished });
  });

  it("twice within seconds makes one new delivery, also of that one, and later another", async () => {
    const { receiver, all } = await addOneInEachState();
    const { brand_id } = receiver;
    const simultaneous = await Promise.all(Array.from({ length: 3 }, () => replay(brand_id, all[3])));
    const { id: repeat } = present(simultaneous[0]);
    expect(new Set(idsOf(simultaneous))).toEqual(new Set([repeat]));
    await finish(brand_id, [repeat], "delivered");
    await served.db.query("update webhook.past_deliveries set repeat_of = $2 where id = $1", [repeat, all[3]]);
    expect(await replay(brand_id, all[3])).toMatchObject({ id: repeat, state: "delivered" });
    expect(await replay(brand_id, repeat)).toMatchObject({ id: repeat, state: "delivered" });
    await served.db.query("update webhook.past_deliveries set created_at = created_at - interval '6 s' where id = $1", [repeat]);
    const later = await replay(brand_id, all[3]);
    expect(later).toMatchObject({ state: "pending", repeat_of: all[3] });
    expect(later.id > repeat).toBe(true);
  });

  it("while its repeat waits for a retry makes that one due now", async () => {
    const { receiver, all } = await addOneInEachState();
    const { id } = await replay(receiver.brand_id, all[3]);
    await served.db.query(
      "update webhook.deliveries set due_at = now() + interval '5 h', attempt = 2, created_at = now() - interval '1 h' where id = $1",
      [id],
    );
    const { due_at, ...rest } = await replay(receiver.brand_id, all[3]);
    expect(rest).toMatchObject({ id, state: "pending", attempts: 2 });
    expect(Date.parse(present(due_at))).toBeLessThanOrEqual(Date.now() + 1_000);
  });

  it("links both deliveries with each other", async () => {
    const { receiver, all } = await addOneInEachState();
    const repeat = await replay(receiver.brand_id, all[3]);
    const { original, repeats } = await get(receiver.brand_id, repeat.id);
    expect([original, repeats]).toEqual([{ id: all[3], created_at: expect.stringMatching(/Z$/) }, []]);
    const links = { original: null, repeats: [{ id: repeat.id, created_at: repeat.created_at }] };
    expect(await get(receiver.brand_id, all[3])).toMatchObject(links);
    await startSending([repeat.id]);
    expect(await get(receiver.brand_id, all[3])).toMatchObject(links);
  });

  it("that is pending makes it due now and keeps its attempts", async () => {
    const { receiver, all } = await addOneInEachState();
    await served.db.query("update webhook.deliveries set due_at = now() + interval '5 h', attempt = 4 where id = $1", [all[0]]);
    await makeIdle(receiver);
    const { due_at, ...rest } = await replay(receiver.brand_id, all[0]);
    expect(rest).toMatchObject({ id: all[0], state: "pending", attempts: 4 });
    expect(Date.parse(present(due_at))).toBeLessThanOrEqual(Date.now() + 1_000);
    expect(await isLaneDue(receiver)).toBe(true);
    expect((await list(receiver)).deliveries).toHaveLength(5);
  });

  it("that is finished, though its page shows it as waiting, changes nothing", async () => {
    const { receiver, all } = await addOneInEachState();
    expect(await replay(receiver.brand_id, all[2], true)).toMatchObject({ id: all[2], state: "delivered" });
    expect(await replay(receiver.brand_id, all[3], true)).toMatchObject({ id: all[3], state: "failed" });
    expect(await replay(receiver.brand_id, all[0], true)).toMatchObject({ id: all[0], state: "pending" });
    expect((await list(receiver)).deliveries).toHaveLength(5);
  });

  it("that is being sent changes nothing", async () => {
    const { receiver, all } = await addOneInEachState();
    expect(await replay(receiver.brand_id, all[1])).toMatchObject({ id: all[1], state: "sending", attempts: 1 });
    expect((await list(receiver)).deliveries).toHaveLength(5);
  });

  it("of a disabled receiver makes a held one", async () => {
    const { receiver, all } = await addOneInEachState();
    await served.receivers.disableReceiver(keyOf(receiver));
    expect(await replay(receiver.brand_id, all[3])).toMatchObject({ state: "held", due_at: null });
    expect((await list(receiver, { state: "held" })).deliveries).toHaveLength(3);
  });

  it("is refused with the reason if its event or its receiver was deleted", async () => {
    const { receiver, all } = await addOneInEachState();
    await served.db.query("delete from webhook.events where brand_id = $1", [receiver.brand_id]);
    for (const id of [all[0], all[3]]) {
      await expect(replay(receiver.brand_id, id)).rejects.toMatchObject({ kind: "not_found", message: expect.stringContaining("event") });
    }
    await served.receivers.deleteReceiver(keyOf(receiver));
    await expect(replay(receiver.brand_id, all[3])).rejects.toMatchObject({
      kind: "not_found",
      message: expect.stringContaining("receiver was deleted"),
    });
    // The finished delivery can still be read.
    expect(await get(receiver.brand_id, all[3])).toMatchObject({ delivery: { id: all[3] }, paused_until: null, failures_in_a_row: 0 });
    await expect(list(receiver)).rejects.toMatchObject({ kind: "not_found", field: "receiver_id" });
  });
});
