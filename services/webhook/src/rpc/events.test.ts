import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import type { DeadLetters, DeadLetterSummary } from "@brand-records/event-log";
import type { Event, ListEventsRequest } from "@brand-records/proto/webhook/v1";
import { newId } from "@brand-records/ids";
import { addDelivery } from "../../test/add-delivery.ts";
import { callContext, newBrand, useReceivers } from "../../test/serve-receivers.ts";

/** Dead letters in memory. */
const kept: DeadLetterSummary[] = [];
const deadLetters: DeadLetters = {
  put: () => Promise.reject(new Error("these tests add no dead letters")),
  list: async (limit) => ({ deadLetters: kept.slice(0, limit), total: kept.length }),
  count: async () => kept.length,
  replay: async () => kept.splice(0).length,
  remove: () => Promise.reject(new Error("these tests remove no dead letters")),
};

const served = useReceivers([], { deadLetters });

const list = (brand_id: string, { page_size = 0, ...more }: Partial<ListEventsRequest> = {}) =>
  served.eventsRpc.listEvents({ brand_id, page_size, count_receivers: false, ...more }, callContext());

async function add(brand_id: string, created_at: string, more: { type?: string; data_json?: string } = {}): Promise<Event> {
  const { type = "payout.paid", data_json = '{"id":"po_1"}' } = more;
  const id = newId("evt");
  await served.db.query("select webhook.ensure_day($1::date)", [created_at.slice(0, 10)]);
  const [row] = await served.db.query<{ received_at: string }>(
    "insert into webhook.events (id, created_at, brand_id, type, data) values ($1, $2, $3, $4, $5::json) returning received_at",
    [id, created_at, brand_id, type, data_json],
  );
  const notCounted = { receivers: null, receivers_accepted: null };
  return { id, brand_id, type, created_at, data_json, received_at: row?.received_at ?? "", test: false, ...notCounted };
}

/** Reads every page. Expects a next_after_id exactly on full pages. */
async function walk(brand: string, page_size: number, type?: string): Promise<Event[]> {
  const seen: Event[] = [];
  for (let after_id: string | null = null; ;) {
    const page: Awaited<ReturnType<typeof list>> = await list(brand, { page_size, after_id, ...(type !== undefined && { type }) });
    expect(page.events.length).toBeLessThanOrEqual(page_size);
    expect(page.next_after_id).toBe(page.events.length === page_size ? page.events.at(-1)?.id : null);
    seen.push(...page.events);
    if (page.next_after_id == null) return seen;
    after_id = page.next_after_id;
  }
}

const newestFirst = (all: readonly Event[]): Event[] =>
  all.toSorted((a, b) => (a.created_at === b.created_at ? (a.id < b.id ? 1 : -1) : a.created_at < b.created_at ? 1 : -1));

it("returns an empty page for a brand without events", async () => {
  expect(await list(newBrand())).toEqual({ events: [], next_after_id: null, next_page_token: null });
});

it("returns every event once, newest first, over several days, in pages of every size, including events of the same millisecond", async () => {
  const brand = newBrand();
  const made: Event[] = [];
  for (const at of [
    "18T23:59:59.999",
    "19T00:00:00.000",
    "19T00:00:00.000",
    "19T12:00:00.001",
    "21T08:30:00.120",
    "21T08:30:00.120",
    "21T08:30:00.120",
  ]) {
    for (const type of EVENT_TYPE_NAMES.slice(0, 2)) made.push(await add(brand, `2026-11-${at}Z`, { type }));
    await add(newBrand(), `2026-11-${at}Z`);
  }
  for (let size = 1; size <= 15; size += 1) expect(await walk(brand, size)).toEqual(newestFirst(made));
  for (const type of EVENT_TYPE_NAMES) {
    const expected = newestFirst(made.filter((event) => event.type === type));
    for (const size of [1, 2, 7, 200]) expect(await walk(brand, size, type)).toEqual(expected);
  }
});

it("returns data byte for byte as received", async () => {
  const brand = newBrand();
  const data_json = '{"b": 1.0,"a":1,  "b":"ñ😀\\u0041","n":12345678901234567890}';
  const event = await add(brand, "2026-11-20T00:00:00.000Z", { data_json });
  expect((await list(brand)).events).toEqual([event]);
});

it("returns 50 events by default, and at most 200, even of the maximum size", async () => {
  const brand = newBrand();
  const data_json = JSON.stringify({ text: "x".repeat(20 * 1024 - 11) });
  expect(data_json).toHaveLength(20 * 1024);
  for (let i = 0; i < 201; i += 1) await add(brand, `2026-11-20T10:00:00.${String(i).padStart(3, "0")}Z`, { data_json });
  expect((await list(brand)).events).toHaveLength(50);
  const full = await list(brand, { page_size: 200 });
  expect(full.events).toHaveLength(200);
  expect((await list(brand, { page_size: 200, after_id: full.next_after_id ?? null })).events).toHaveLength(1);
});

it.each([-1, 201, 2_147_483_647])("refuses a page size of %i", async (page_size) => {
  await expect(list(newBrand(), { page_size })).rejects.toMatchObject({ kind: "invalid_request", field: "page_size" });
  await expect(served.eventsRpc.listDeadLetters({ page_size }, callContext())).rejects.toMatchObject({
    kind: "invalid_request",
    field: "page_size",
  });
});

it.each(["", "payout.failed", "Payout.paid", "toString", "payout.paid\0"])("refuses the type %j", async (type) => {
  await expect(list(newBrand(), { type })).rejects.toMatchObject({ kind: "invalid_request", field: "type" });
});

it.each(["", "1", "evt_", "evt_\0", "EVT_1", "pln_1", `evt_${"x".repeat(41)}`])(
  "refuses the after_id %j, which is not an event's id",
  async (after_id) => {
    await expect(list(newBrand(), { after_id })).rejects.toMatchObject({ kind: "invalid_request", field: "after_id" });
  },
);

it("refuses the after_id of an unknown event and of another brand's with the same error, rather than ending the list", async () => {
  const [brand, other] = [newBrand(), newBrand()];
  await add(brand, "2026-11-20T00:00:00.000Z");
  const theirs = await add(other, "2026-11-21T00:00:00.000Z");
  const refusals = await Promise.all(
    ["evt_unknown", theirs.id].map((after_id) => list(brand, { after_id }).catch(({ kind, message, field }) => ({ kind, message, field }))),
  );
  expect(refusals[0]).toMatchObject({ kind: "invalid_request", field: "after_id" });
  expect(refusals[0]).toEqual(refusals[1]);
});

it("returns an empty last page after a full one", async () => {
  const brand = newBrand();
  const { id } = await add(brand, "2026-11-20T00:00:00.000Z");
  expect(await list(brand, { after_id: id })).toEqual({ events: [], next_after_id: null, next_page_token: null });
});

it("reports every problem in one error", async () => {
  await expect(list("1", { type: "x", page_size: 201, after_id: "1" })).rejects.toMatchObject({
    details: [{ field: "brand_id" }, { field: "type" }, { field: "page_size" }, { field: "after_id" }],
  });
});

describe("a list with filters", () => {
  const ids = async (brand: string, filters: Partial<ListEventsRequest>): Promise<string[]> =>
    (await list(brand, filters)).events.map(({ id }) => id);

  it("contains the events of a record, in a time, of a type, and all of these together", async () => {
    const brand = newBrand();
    const [first, second, third] = [
      await add(brand, "2026-11-19T23:59:59.999Z", { data_json: '{"id":"po_1"}' }),
      await add(brand, "2026-11-20T00:00:00.000Z", { data_json: '{"resource":"payouts","id":"po_2"}' }),
      await add(brand, "2026-11-21T00:00:00.000Z", { data_json: '{"id":"po_1"}', type: "campaign.settled" }),
    ].map(({ id }) => id);
    await add(newBrand(), "2026-11-20T00:00:00.000Z", { data_json: '{"id":"po_1"}' });
    expect(await ids(brand, { record_id: "po_1" })).toEqual([third, first]);
    expect(await ids(brand, { from: "2026-11-20T00:00:00Z" })).toEqual([third, second]);
    expect(await ids(brand, { to: "2026-11-20T00:00:00Z" })).toEqual([first]);
    expect(await ids(brand, { from: "2026-11-20T08:00:00+08:00", to: "2026-11-21T00:00:00Z" })).toEqual([second]);
    expect(await ids(brand, { record_id: "po_1", type: "campaign.settled", from: "2026-11-20T00:00:00Z" })).toEqual([third]);
    expect(await ids(brand, { record_id: "po_3" })).toEqual([]);
  });

  it("contains each event once over all pages, by token, also after the last one of a page is gone", async () => {
    const brand = newBrand();
    const all: string[] = [];
    // Five at the same time, so that a page ends between them.
    for (let n = 0; n < 20; n += 1) all.push((await add(brand, `2026-11-2${n < 10 ? 0 : 1}T08:00:00.00${Math.floor(n / 5)}Z`)).id);
    const expected = all.toSorted((one, two) => (one < two ? 1 : -1));
    const seen: string[] = [];
    let token: string | null | undefined;
    do {
      const page: Awaited<ReturnType<typeof list>> = await list(brand, { page_size: 4, page_token: token ?? null });
      seen.push(...page.events.map(({ id }) => id));
      token = page.next_page_token;
      await served.db.query("delete from webhook.events where id = $1", [seen.at(-1)]);
      await add(brand, new Date().toISOString());
    } while (token != null);
    expect(seen.toSorted()).toEqual(expected.toSorted());
    expect(seen.slice(0, 10).toSorted()).toEqual(all.slice(10).toSorted());
  });

  it("counts on request which receivers each event goes to, once however often it was sent, and which accepted it", async () => {
    const brand = newBrand();
    const [first, second, third] = [
      await add(brand, "2026-11-20T00:00:00.000Z"),
      await add(brand, "2026-11-20T00:00:01.000Z"),
      await add(brand, "2026-11-20T00:00:02.000Z"),
    ].map(({ id }) => id);
    const deliver = async (receiver: string, event: string | undefined, state: "pending" | "sending" | "delivered" | "failed") =>
      addDelivery(served.db, { brand_id: brand, id: receiver }, { at: "2026-11-20T00:00:03.000Z", event: event ?? "", state });
    await deliver("rcv_1", first, "failed");
    await deliver("rcv_1", first, "delivered");
    await deliver("rcv_2", first, "failed");
    await deliver("rcv_2", first, "pending");
    await deliver("rcv_3", first, "sending");
    await deliver("rcv_1", second, "delivered");
    const counts = (await list(brand, { count_receivers: true })).events.map(({ id, receivers, receivers_accepted }) => [
      id,
      receivers,
      receivers_accepted,
    ]);
    expect(counts).toEqual([
      [third, 0, 0],
      [second, 1, 1],
      [first, 3, 1],
    ]);
    expect((await list(brand)).events[0]).toMatchObject({ receivers: null, receivers_accepted: null });
  });

  it("refuses a token that is malformed, changed, of another brand or with other filters", async () => {
    const [brand, other] = [newBrand(), newBrand()];
    for (const id of [brand, brand, other]) await add(id, "2026-11-20T08:00:00.000Z");
    const { next_page_token } = await list(brand, { page_size: 1, type: "payout.paid" });
    const page_token = next_page_token ?? "";
    expect((await list(brand, { page_size: 1, type: "payout.paid", page_token })).events).toHaveLength(1);
    const forged = Buffer.from(Buffer.from(page_token, "base64url").toString().replace("[1,", "[2,")).toString("base64url");
    for (const [id, filters] of [
      [other, { type: "payout.paid", page_token }],
      [brand, { page_token }],
      [brand, { type: "payout.paid", record_id: "po_1", page_token }],
      [brand, { type: "payout.paid", page_token: forged }],
      [brand, { type: "payout.paid", page_token: "" }],
      [brand, { type: "payout.paid", page_token: "not a token" }],
    ] as const) {
      await expect(list(id, filters)).rejects.toMatchObject({ kind: "invalid_cursor", field: "page_token" });
    }
    await expect(list(brand, { page_token, after_id: "evt_1" })).rejects.toMatchObject({ kind: "invalid_request", field: "page_token" });
  });

  it.each<[Partial<ListEventsRequest>, string]>([
    [{ record_id: "po" }, "record_id"],
    [{ record_id: "" }, "record_id"],
    [{ from: "2026-11-20" }, "from"],
    [{ to: "" }, "to"],
    [{ from: "2026-11-20T00:00:00Z", to: "2026-11-20T00:00:00Z" }, "to"],
  ])("refuses %j", async (filters, field) => {
    await expect(list(newBrand(), filters)).rejects.toMatchObject({ kind: "invalid_request", field });
  });
});

describe("dead letters", () => {
  const letter = (at: number): DeadLetterSummary => ({
    position: `brand.events/0@${at}`,
    key: `sub_${at}`,
    bytes: at * 2,
    reason: "not JSON",
    deadLetteredAt: "2026-11-21T08:30:00.000Z",
  });

  it("are listed oldest first, with the reason and without their contents", async () => {
    kept.splice(0, Infinity, ...Array.from({ length: 60 }, (_, at) => letter(at)));
    const { dead_letters, total } = await served.eventsRpc.listDeadLetters({ page_size: 2 }, callContext());
    expect(total).toBe(60);
    expect(dead_letters).toEqual(
      [0, 1].map((at) => ({
        position: `brand.events/0@${at}`,
        reason: "not JSON",
        dead_lettered_at: "2026-11-21T08:30:00.000Z",
        key: `sub_${at}`,
        bytes: at * 2,
      })),
    );
    expect((await served.eventsRpc.listDeadLetters({ page_size: 0 }, callContext())).dead_letters).toHaveLength(50);
  });

  it("are replayed, and the response gives their number", async () => {
    kept.splice(0, Infinity, letter(1), letter(2));
    expect(await served.eventsRpc.replayDeadLetters({}, callContext())).toEqual({ replayed: 2 });
    expect(await served.eventsRpc.replayDeadLetters({}, callContext())).toEqual({ replayed: 0 });
  });
});

it("shows no test events, and refuses their ids as after_id", async () => {
  const brand = newBrand();
  const event = await add(brand, "2026-11-21T08:30:00.000Z");
  const test = await add(brand, "2026-11-21T08:31:00.000Z");
  await served.db.query("update webhook.events set test = true where id = $1", [test.id]);
  expect((await list(brand)).events).toEqual([event]);
  expect((await list(brand, { type: "payout.paid" })).events).toEqual([event]);
  await expect(list(brand, { after_id: test.id })).rejects.toMatchObject({ kind: "invalid_request", field: "after_id" });
});
