import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import type { Event, ListEventsRequest } from "@brand-records/proto/webhook/v1";
import { newId } from "@brand-records/ids";
import { dropOldDays } from "../storage/daily-partitions.ts";
import { addDelivery } from "../../test/add-delivery.ts";
import { addEvents } from "../../test/add-events.ts";
import { keyOf, newBrand, present, PUBLIC_URL, useReceivers } from "../../test/serve-receivers.ts";

const served = useReceivers();

const list = (brand_id: string, { page_size = 0, ...more }: Partial<ListEventsRequest> = {}) =>
  served.eventsRpc.listEvents({ brand_id, page_size, count_receivers: false, ...more });

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
  expect(await walk(newBrand(), 1)).toEqual([]);
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

it.each<[Partial<ListEventsRequest>, string]>([
  ...[-1, 201].map((page_size): [object, string] => [{ page_size }, "page_size"]),
  ...["", "payout.failed", "toString"].map((type): [object, string] => [{ type }, "type"]),
  ...["", "evt_", "pln_1"].map((after_id): [object, string] => [{ after_id }, "after_id"]),
  [{ record_id: "po" }, "record_id"],
  [{ record_id: "" }, "record_id"],
  [{ from: "2026-11-20" }, "from"],
  [{ to: "" }, "to"],
  [{ from: "2026-11-20T00:00:00Z", to: "2026-11-20T00:00:00Z" }, "to"],
])("refuses %j", async (filters, field) => {
  await expect(list(newBrand(), filters)).rejects.toMatchObject({ kind: "invalid_request", field });
});

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

const AT = "2026-11-20T08:30:00.000Z";
const DAY_MS = 86_400_000;

const get = (brand_id: string, event_id: string) => served.eventsRpc.getEvent({ brand_id, event_id });
const notFound = { kind: "not_found", field: "event_id", message: "There is no event with this id, or it is no longer stored" };

it("returns an event with its body and its deliveries by receiver, those with the newest delivery first", async () => {
  const first = await served.create(newBrand());
  const other = await served.create(first.brand_id, { label: "Relay" });
  const { id: failed, event_id } = await addDelivery(served.db, first, { at: AT, state: "failed" });
  const { id: sent } = await addDelivery(served.db, other, { at: "2026-11-20T08:30:01.000Z", event: event_id });
  const { id: again } = await addDelivery(served.db, first, { at: "2026-11-20T08:30:02.000Z", event: event_id, state: "pending" });
  await addDelivery(served.db, first, { at: AT });
  const { event, body, receivers, has_more_deliveries } = await get(first.brand_id, event_id);
  const { brand_id } = first;
  expect(event).toEqual({
    id: event_id,
    brand_id,
    type: "payout.paid",
    created_at: AT,
    data_json: '{"id":"po_1"}',
    received_at: AT,
    test: false,
    receivers: null,
    receivers_accepted: null,
  });
  expect(Buffer.from(body).toString()).toBe(
    `{"id":"${event_id}","type":"payout.paid","created_at":"${AT}","brand_id":"${brand_id}","test":false,` +
      `"dashboard_url":"${PUBLIC_URL}/developers/events/${event_id}","data":{"id":"po_1"}}`,
  );
  expect(
    receivers.map(({ receiver_id, label, deliveries }) => [receiver_id, label, deliveries.map(({ id, state }) => [id, state])]),
  ).toEqual([
    [
      first.id,
      "Ledger",
      [
        [again, "pending"],
        [failed, "failed"],
      ],
    ],
    [other.id, "Relay", [[sent, "delivered"]]],
  ]);
  expect(has_more_deliveries).toBe(false);
});

it("says of each receiver its host, without the path, and until when sending to it is paused", async () => {
  const paused = await served.create(newBrand());
  const other = await served.create(paused.brand_id, { url: "https://Relay.Brand.Example/in?token=x" });
  const { event_id } = await addDelivery(served.db, paused, { at: AT, state: "pending" });
  await addDelivery(served.db, other, { at: "2026-11-20T08:29:00.000Z", event: event_id });
  await served.db.query("update webhook.lanes set open_until = '2036-01-01T00:00:00Z', failed_in_a_row = 12 where receiver_id = $1", [
    paused.id,
  ]);
  const { receivers } = await get(paused.brand_id, event_id);
  expect(receivers.map(({ host, paused_until }) => [host, paused_until])).toEqual([
    ["hooks.brand.example", "2036-01-01T00:00:00.000Z"],
    ["relay.brand.example", null],
  ]);
});

it("keeps finished deliveries of a deleted receiver, without its label", async () => {
  const receiver = await served.create(newBrand());
  const { event_id } = await addDelivery(served.db, receiver, { at: AT });
  await served.receivers.deleteReceiver(keyOf(receiver));
  const { receivers } = await get(receiver.brand_id, event_id);
  expect(receivers).toMatchObject([
    { receiver_id: receiver.id, label: null, host: null, paused_until: null, deliveries: [{ state: "delivered" }] },
  ]);
});

it("returns an event that no receiver selected without receivers, and the event of a test as one", async () => {
  const receiver = await served.create(newBrand());
  const [event] = await addEvents(served.db, { brandId: receiver.brand_id, from: AT, count: 1 });
  expect(await get(receiver.brand_id, present(event))).toMatchObject({ receivers: [], event: { test: false } });
  const { event_id } = await served.receivers.sendTest({ ...keyOf(receiver), next: false });
  expect(await get(receiver.brand_id, event_id)).toMatchObject({ event: { test: true }, receivers: [{ deliveries: [{ test: true }] }] });
});

it("returns of an event the newest 200 deliveries, and whether there are more", async () => {
  const receiver = await served.create(newBrand());
  const { event_id } = await addDelivery(served.db, receiver, { at: AT });
  const add = (count: number) =>
    served.db.query(
      `insert into webhook.past_deliveries (id, brand_id, receiver_id, event_id, event_created_at, event_type, state, attempts, test, created_at,
                                            attempt_id, started_at, duration_ms, outcome)
       select 'dlv_1' || lpad(n::text, 4, '0') || $1, $2, $3, $4, $5::timestamptz, 'payout.paid', 'failed', 1, false, $5::timestamptz,
              'att_1' || lpad(n::text, 4, '0') || $1, $5::timestamptz, 120, 'refused'
         from generate_series(1, $6::int) n`,
      [event_id.slice(4, 20), receiver.brand_id, receiver.id, event_id, AT, count],
    );
  await add(200);
  const { receivers, has_more_deliveries } = await get(receiver.brand_id, event_id);
  expect(receivers.flatMap(({ deliveries }) => deliveries)).toHaveLength(200);
  expect(has_more_deliveries).toBe(true);
});

it("returns the same not_found for an unknown event, another brand's, and one beyond the retention", async () => {
  const receiver = await served.create(newBrand());
  const { event_id } = await addDelivery(served.db, receiver, { at: AT });
  await expect(get(newBrand(), event_id)).rejects.toMatchObject(notFound);
  await expect(get(receiver.brand_id, newId("evt"))).rejects.toMatchObject(notFound);
  const old = await addDelivery(served.db, receiver, { at: new Date(Date.now() - 32 * DAY_MS).toISOString() });
  const kept = await addDelivery(served.db, receiver, { at: new Date(Date.now() - 30 * DAY_MS).toISOString() });
  await dropOldDays(served.db, 30);
  await expect(get(receiver.brand_id, old.event_id)).rejects.toMatchObject(notFound);
  expect(await get(receiver.brand_id, kept.event_id)).toMatchObject({ receivers: [{ deliveries: [{ id: kept.id }] }] });
  await expect(get(receiver.brand_id, "dlv_1")).rejects.toMatchObject({ kind: "invalid_request", field: "event_id" });
});
