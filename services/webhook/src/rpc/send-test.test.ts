import { readEventMessage } from "@brand-records/brand-events";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { pageOfEvents } from "../storage/events.ts";
import { sendTest } from "../use-cases/send-test.ts";
import { callContext, newBrand, present, serveReceivers, type ServedReceivers } from "../../test/serve-receivers.ts";

let served: ServedReceivers;
beforeAll(async () => {
  served = await serveReceivers();
});
afterAll(() => served.stop());

const keyOf = ({ brand_id, id }: Receiver) => ({ brand_id, receiver_id: id });
const test = (receiver: Receiver, type?: string) => served.receivers.sendTest({ ...keyOf(receiver), type, next: false }, callContext());

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
  const { delivery } = await served.deliveriesRpc.getDelivery(
    { brand_id: receiver.brand_id, delivery_id: response.delivery_id },
    callContext(),
  );
  expect(delivery).toMatchObject({ test: true, event_type: "payout.paid", event_id: response.event_id, state: "pending" });
});

it("is of the first selected type by default", async () => {
  const receiver = await served.create(newBrand(), { events: ["campaign.settled", "submission.rejected"] });
  await test(receiver);
  await test(receiver, "submission.rejected");
  expect((await queued(receiver)).map(({ type }) => type).toSorted()).toEqual(["campaign.settled", "submission.rejected"]);
});

it("is not in the list of the brand's events", async () => {
  const receiver = await served.create(newBrand());
  await test(receiver);
  expect(
    await pageOfEvents(served.db, receiver.brand_id, { type: null, recordId: null, from: null, to: null, after: null, limit: 10 }),
  ).toEqual([]);
});

it("creates the partition of its day", async () => {
  const receiver = await served.create(newBrand());
  const key = { brandId: receiver.brand_id, receiverId: receiver.id };
  await sendTest(served.db, key, {}, () => Date.UTC(2031, 4, 5, 6));
  expect(await queued(receiver)).toMatchObject([{ created_at: "2031-05-05T06:00:00.000Z" }]);
});

it.each([
  ["campaign.settled", "invalid_request", "type"],
  ["ping", "invalid_request", "type"],
])("refuses %s, which is not selected", async (type, kind, field) => {
  const receiver = await served.create(newBrand());
  await expect(test(receiver, type)).rejects.toMatchObject({ kind, field });
  expect(await queued(receiver)).toEqual([]);
});

it("is signed with the next secret only if that is asked for", async () => {
  const receiver = await served.create(newBrand());
  await served.receivers.rotateSecret(keyOf(receiver), callContext());
  await test(receiver);
  const { delivery_id } = await served.receivers.sendTest({ ...keyOf(receiver), type: null, next: true }, callContext());
  const { deliveries } = await served.deliveriesRpc.listDeliveries({ ...keyOf(receiver), states: [], page_size: 0 }, callContext());
  expect(deliveries.map(({ id, sign_with_next }) => [id === delivery_id, sign_with_next])).toEqual([
    [true, true],
    [false, false],
  ]);
});

it("by the next secret is refused without one, and while the receiver is disabled", async () => {
  const receiver = await served.create(newBrand());
  const testByNext = () => served.receivers.sendTest({ ...keyOf(receiver), type: null, next: true }, callContext());
  await expect(testByNext()).rejects.toMatchObject({ kind: "no_next_secret" });
  await served.receivers.rotateSecret(keyOf(receiver), callContext());
  await served.receivers.disableReceiver(keyOf(receiver), callContext());
  await expect(testByNext()).rejects.toMatchObject({ kind: "receiver_disabled" });
  expect(await queued(receiver)).toEqual([]);
});

it("is refused while the receiver is disabled", async () => {
  const receiver = await served.create(newBrand());
  await served.receivers.disableReceiver(keyOf(receiver), callContext());
  await expect(test(receiver)).rejects.toMatchObject({ kind: "receiver_disabled" });
  expect(await queued(receiver)).toEqual([]);
});

it("returns not_found for another brand's receiver", async () => {
  const receiver = await served.create(newBrand());
  await expect(test({ ...receiver, brand_id: newBrand() })).rejects.toMatchObject({ kind: "not_found", field: "receiver_id" });
  expect(await queued(receiver)).toEqual([]);
});
