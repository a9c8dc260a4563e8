import { newId } from "@brand-records/ids";
import { dropOldDays } from "../storage/daily-partitions.ts";
import { addDelivery } from "../../test/add-delivery.ts";
import { addEvents } from "../../test/add-events.ts";
import { callContext, newBrand, present, PUBLIC_URL, useReceivers } from "../../test/serve-receivers.ts";

const AT = "2026-11-20T08:30:00.000Z";
const DAY_MS = 86_400_000;

const served = useReceivers();

const get = (brand_id: string, event_id: string) => served.eventsRpc.getEvent({ brand_id, event_id }, callContext());
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
  await served.receivers.deleteReceiver({ brand_id: receiver.brand_id, receiver_id: receiver.id }, callContext());
  const { receivers } = await get(receiver.brand_id, event_id);
  expect(receivers).toMatchObject([
    { receiver_id: receiver.id, label: null, host: null, paused_until: null, deliveries: [{ state: "delivered" }] },
  ]);
});

it("returns an event that no receiver selected without receivers, and the event of a test as one", async () => {
  const receiver = await served.create(newBrand());
  const [event] = await addEvents(served.db, { brandId: receiver.brand_id, from: AT, count: 1 });
  expect(await get(receiver.brand_id, present(event))).toMatchObject({ receivers: [], event: { test: false } });
  const { event_id } = await served.receivers.sendTest(
    { brand_id: receiver.brand_id, receiver_id: receiver.id, next: false },
    callContext(),
  );
  expect(await get(receiver.brand_id, event_id)).toMatchObject({ event: { test: true }, receivers: [{ deliveries: [{ test: true }] }] });
});

it("returns the newest 200 deliveries, and whether there are more", async () => {
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
