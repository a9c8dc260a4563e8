import type { ListDeliveriesRequest, Receiver } from "@brand-records/proto/webhook/v1";
import { addDelivery, type NewDelivery } from "../../test/add-delivery.ts";
import { keyOf, newBrand, useReceivers } from "../../test/serve-receivers.ts";

const DAY = "2026-11-20";
const at = (time: string): string => `${DAY}T${time}Z`;

const served = useReceivers();

type Filters = Partial<ListDeliveriesRequest>;

const page = ({ brand_id, id }: Pick<Receiver, "brand_id" | "id">, filters: Filters = {}) =>
  served.deliveriesRpc.listDeliveries({ brand_id, receiver_id: id, states: [], page_size: 200, ...filters });
const list = async (receiver: Receiver, filters: Filters = {}): Promise<string[]> =>
  (await page(receiver, filters)).deliveries.map(({ id }) => id);

/** Adds deliveries, the first one oldest. Returns their ids. */
async function addAll(receiver: Receiver, ...deliveries: NewDelivery[]): Promise<string[]> {
  const ids: string[] = [];
  for (const delivery of deliveries) ids.push((await addDelivery(served.db, receiver, delivery)).id);
  return ids;
}

describe("a list of deliveries", () => {
  it("in several states contains those in each of them, newest first", async () => {
    const receiver = await served.create(newBrand());
    const [pending, delivered, failed, sending] = await addAll(
      receiver,
      { at: at("08:00:00.000"), state: "pending" },
      { at: at("08:00:00.001"), state: "delivered" },
      { at: at("08:00:00.002"), state: "failed" },
      { at: at("08:00:00.003"), state: "sending" },
    );
    expect(await list(receiver, { states: ["failed", "pending"] })).toEqual([failed, pending]);
    expect(await list(receiver, { states: ["sending", "delivered", "delivered"] })).toEqual([sending, delivered]);
    expect(await list(receiver, { states: ["sending"], state: "failed" })).toEqual([sending, failed]);
    expect(await list(receiver, { states: ["held", "failed"] })).toEqual([failed]);
    await served.receivers.disableReceiver(keyOf(receiver));
    expect(await list(receiver, { states: ["held", "failed"] })).toEqual([failed, pending]);
    expect(await list(receiver, { states: ["pending", "failed"] })).toEqual([failed]);
    expect(await list(receiver, { states: ["pending", "held"] })).toEqual([pending]);
  });

  it("of a type contains that type in every state", async () => {
    const receiver = await served.create(newBrand());
    const type = "campaign.settled";
    const all = await addAll(
      receiver,
      { at: at("08:00:00.000"), type, state: "pending" },
      { at: at("08:00:00.001"), state: "pending" },
      { at: at("08:00:00.002"), type, state: "pending" },
      { at: at("08:00:00.003"), type, state: "sending" },
      { at: at("08:00:00.004"), type, state: "delivered" },
      { at: at("08:00:00.005"), state: "failed" },
      { at: at("08:00:00.006"), type, state: "failed" },
    );
    const ofType = all.filter((_, index) => ![1, 5].includes(index)).toReversed();
    expect(await list(receiver, { type })).toEqual(ofType);
    expect(await list(receiver, { type, states: ["failed", "pending"] })).toEqual([all[6], all[2], all[0]]);
    expect((await page(receiver, { type })).deliveries.map(({ event_type }) => event_type)).toEqual(ofType.map(() => type));
    expect(await list(receiver, { type: "submission.rejected" })).toEqual([]);
  });

  it("of a time includes its first millisecond and not its last, in any offset", async () => {
    const receiver = await served.create(newBrand());
    const [, first, second, last] = await addAll(
      receiver,
      { at: at("07:59:59.999") },
      { at: at("08:00:00.000"), state: "pending" },
      { at: at("08:59:59.998"), state: "failed" },
      { at: at("08:59:59.999") },
    );
    expect(await list(receiver, { from: at("08:00:00"), to: at("08:59:59.999") })).toEqual([second, first]);
    expect(await list(receiver, { from: "2026-11-20T16:00:00+08:00" })).toEqual([last, second, first]);
    expect(await list(receiver, { from: at("08:00:00"), states: ["failed"], type: "payout.paid" })).toEqual([second]);
    expect(await list(receiver, { from: at("09:00:00") })).toEqual([]);
    await expect(page(receiver, { from: at("09:00:00"), to: at("09:00:00") })).rejects.toMatchObject({
      kind: "invalid_request",
      field: "to",
    });
    await expect(page(receiver, { from: "yesterday" })).rejects.toMatchObject({ kind: "invalid_request", field: "from" });
  });

  it("of a time finds deliveries whose ids are from a clock that differs by half an hour", async () => {
    const receiver = await served.create(newBrand());
    const [id] = await addAll(receiver, { at: at("08:00:00.000"), state: "pending" });
    for (const minutes of [-30, 30]) {
      await served.db.query("update webhook.deliveries set created_at = $2::timestamptz + make_interval(mins => $3) where id = $1", [
        id,
        at("08:00:00.000"),
        minutes,
      ]);
      const [from, to] = [minutes - 1, minutes + 1].map((offset) =>
        new Date(Date.parse(at("08:00:00.000")) + offset * 60_000).toISOString(),
      );
      expect(await list(receiver, { from, to })).toEqual([id]);
    }
  });

  it("of an event contains its deliveries to the receiver, or to all receivers of the brand", async () => {
    const receiver = await served.create(newBrand());
    const other = await served.create(receiver.brand_id);
    const { id: first, event_id } = await addDelivery(served.db, receiver, { at: at("08:00:00.000"), state: "failed" });
    const { id: again } = await addDelivery(served.db, receiver, { at: at("08:00:00.001"), state: "pending", event: event_id });
    const { id: elsewhere } = await addDelivery(served.db, other, { at: at("08:00:00.002"), state: "sending", event: event_id });
    await addAll(receiver, { at: at("08:00:00.003") });
    expect(await list(receiver, { event_id })).toEqual([again, first]);
    expect(await list(receiver, { event_id, states: ["failed"] })).toEqual([first]);
    const all = { ...receiver, id: "" };
    expect(await page(all, { event_id })).toMatchObject({ paused_until: null, failures_in_a_row: 0 });
    expect(await list(all, { event_id })).toEqual([elsewhere, again, first]);
    expect(await list(all, { event_id, after_id: again })).toEqual([first]);
    await served.receivers.disableReceiver(keyOf(receiver));
    expect(await list(all, { event_id, states: ["held"] })).toEqual([again]);
    expect(await list(all, { event_id, states: ["pending"] })).toEqual([]);
  });

  it("of a record contains the deliveries of all events about it, to the receiver or to all receivers of the brand, and no tests", async () => {
    const receiver = await served.create(newBrand());
    const other = await served.create(receiver.brand_id);
    const theirs = await served.create(newBrand());
    const [first, , approved, settled] = await addAll(
      receiver,
      { at: at("08:00:00.000"), record: "sub_1", state: "failed" },
      { at: at("08:00:00.001"), record: "sub_2" },
      { at: at("08:00:00.002"), record: "sub_1", state: "pending" },
      { at: at("08:00:00.003"), record: "sub_1", state: "sending" },
      { at: at("08:00:00.004"), record: "sub_1", test: true },
    );
    const [elsewhere] = await addAll(other, { at: at("08:00:00.005"), record: "sub_1" });
    await addAll(theirs, { at: at("08:00:00.006"), record: "sub_1" });
    expect(await list(receiver, { record_id: "sub_1" })).toEqual([settled, approved, first]);
    expect(await list(receiver, { record_id: "sub_1", states: ["pending"] })).toEqual([approved]);
    expect(await list(receiver, { record_id: "sub_1", page_size: 1, after_id: approved ?? "" })).toEqual([first]);
    expect(await list(receiver, { record_id: "sub_3" })).toEqual([]);
    const all = { ...receiver, id: "" };
    expect(await list(all, { record_id: "sub_1" })).toEqual([elsewhere, settled, approved, first]);
    const { deliveries } = await page(all, { record_id: "sub_1" });
    expect(new Set(deliveries.map(({ record_id }) => record_id))).toEqual(new Set(["sub_1"]));
    const event_id = deliveries[0]?.event_id ?? "";
    expect(await list(all, { record_id: "sub_1", event_id })).toEqual([elsewhere]);
    expect(await list(all, { record_id: "sub_2", event_id })).toEqual([]);
    await expect(page(receiver, { record_id: "sub" })).rejects.toMatchObject({ kind: "invalid_request", field: "record_id" });
  });

  it("of a class of statuses contains those whose last attempt got one of it, finished or not", async () => {
    const receiver = await served.create(newBrand());
    const ids = await addAll(
      receiver,
      { at: at("08:00:00.000"), state: "failed", status: 503 },
      { at: at("08:00:00.001"), state: "pending", status: 500 },
      { at: at("08:00:00.002"), state: "pending", status: 404 },
      { at: at("08:00:00.003"), state: "failed", status: 301 },
      { at: at("08:00:00.004"), state: "failed", status: null },
      { at: at("08:00:00.005"), state: "delivered", status: 204 },
      { at: at("08:00:00.006"), state: "pending" },
      { at: at("08:00:00.007"), state: "sending", status: 502 },
    );
    const [failed, retried, missing, moved, silent, delivered, , sending] = ids;
    expect(await list(receiver, { status_class: "5xx" })).toEqual([sending, retried, failed]);
    expect(await list(receiver, { status_class: "5xx", page_size: 2 })).toEqual([sending, retried]);
    expect(await page(receiver, { status_class: "5xx", page_size: 2 })).toMatchObject({ next_after_id: retried });
    expect(await list(receiver, { status_class: "5xx", states: ["failed"] })).toEqual([failed]);
    expect(await list(receiver, { status_class: "4xx" })).toEqual([missing]);
    expect(await list(receiver, { status_class: "3xx" })).toEqual([moved]);
    expect(await list(receiver, { status_class: "2xx" })).toEqual([delivered]);
    expect(await list(receiver, { status_class: "none" })).toEqual([silent]);
    expect(await list(receiver, { status_class: "4xx", states: ["delivered"] })).toEqual([]);
    expect(await list(receiver, { status_class: "5xx", record_id: "po_1", type: "payout.paid" })).toEqual([sending, retried, failed]);
    expect((await page(receiver, { status_class: "5xx" })).deliveries[1]).toMatchObject({ last_http_status: 500, last_duration_ms: 120 });
    for (const status_class of ["5", "6xx", "404", ""])
      await expect(page(receiver, { status_class })).rejects.toMatchObject({ kind: "invalid_request", field: "status_class" });
  });

  it("needs a receiver, an event or a record, of the brand", async () => {
    const receiver = await served.create(newBrand());
    const theirs = await served.create(newBrand());
    const { event_id } = await addDelivery(served.db, theirs, { at: at("08:00:00.000") });
    await expect(page({ ...receiver, id: "" })).rejects.toMatchObject({ kind: "invalid_request", field: "receiver_id" });
    // Another brand's event is an unknown one.
    const refusal = { kind: "not_found", field: "event_id", message: "There is no event with this id, or it is no longer stored" };
    await expect(page({ ...receiver, id: "" }, { event_id })).rejects.toMatchObject(refusal);
    await expect(page({ ...receiver, id: "" }, { event_id: "evt_none" })).rejects.toMatchObject(refusal);
    expect(await list(receiver, { event_id })).toEqual([]);
    await expect(page(theirs, { event_id, brand_id: receiver.brand_id })).rejects.toMatchObject({
      kind: "not_found",
      field: "receiver_id",
    });
  });
});
