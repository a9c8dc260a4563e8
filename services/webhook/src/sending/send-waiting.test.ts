import type { ServerResponse } from "node:http";
import { eventually } from "@brand-records/testkit";
import { startReceivingServer, type ReceivingServer } from "../../test/receiving-server.ts";
import { recordNothing } from "../../test/serve-receivers.ts";
import { useSending, type MadeReceiver } from "../../test/serve-sending.ts";
import { disableReceiver, enableReceiver, sendWaiting } from "../use-cases/enable-receiver.ts";
import { replayDelivery } from "../use-cases/replay-delivery.ts";
import { sendTest } from "../use-cases/send-test.ts";

/** One promise: what an owner asks to be sent now is sent now, whatever the receiver's pause and its deliveries' back-off. */

/** How many of three wait, as the sender claims the first as soon as it may. */
const BEFORE_OR_AFTER_CLAIM = [3, 2];

/** Each retry is an hour later. */
const RETRIES = [3_600, 3_600, 3_600];

const sending = useSending();
let server: ReceivingServer;
let receiver: MadeReceiver;
beforeEach(async () => {
  server = await startReceivingServer(refuse);
  receiver = await sending.createReceiver(server.url);
});
afterEach(() => server.stop());

const keyOf = ({ brand, id }: MadeReceiver) => ({ brandId: brand, receiverId: id });
const accept = (response: ServerResponse): void => void response.writeHead(204).end();
const refuse = (response: ServerResponse): void => void response.writeHead(500).end();

interface Waiting {
  readonly id: string;
  readonly attempt: number;
}

/** What waits for a retry, in the order of creation. */
const waiting = (): Promise<Waiting[]> =>
  sending.db.query<Waiting>("select id, attempt from webhook.deliveries where state = 'pending' and due_at > now() order by id");

/** Each delivery has failed once and waits for an hour. @param count of all, those that were there before with them */
async function failOnce(count: number, added = count): Promise<void> {
  await sending.deliver([receiver], added);
  sending.start({ retryDelaysSeconds: RETRIES });
  await eventually(async () => expect(await waiting()).toHaveLength(count));
}

/** As after ten failures. */
async function pause(): Promise<void> {
  await sending.db.query(
    "update webhook.lanes set failed_in_a_row = 12, trips = 2, opened_at = now(), open_until = now() + interval '5 min'",
  );
}

const eventIdOf = async (deliveryId: string): Promise<string | undefined> =>
  (await sending.db.query<{ event_id: string }>("select event_id from webhook.deliveries where id = $1", [deliveryId]))[0]?.event_id;

describe("while sending is paused", () => {
  beforeEach(async () => {
    await failOnce(3);
    await pause();
    server.requests.length = 0;
  });

  it("tries the first that waits, and keeps the pause after a failure", async () => {
    const held: ServerResponse[] = [];
    server.respond = (response) => void held.push(response);
    const { first, receiver: tried } = await sendWaiting(sending.db, keyOf(receiver), false, recordNothing);
    expect(tried?.paused_until).toBeNull();
    expect(BEFORE_OR_AFTER_CLAIM).toContain(tried?.waiting);
    expect(first).toMatchObject({ attempts: 1 });
    await eventually(() => expect(held).toHaveLength(1));
    server.respond = refuse;
    held.forEach(refuse);
    await eventually(async () => expect(await waiting()).toContainEqual({ id: first?.id, attempt: 2 }));
    expect(server.requests.map(({ body }) => body.id)).toEqual([first?.event_id]);
    await eventually(async () =>
      expect(await sending.db.query("select open_until > now() as open, trips from webhook.lanes")).toEqual([{ open: true, trips: 3 }]),
    );
  });

  it("sends a test at once, before what is overdue", async () => {
    await sending.db.query("update webhook.deliveries set due_at = now() - interval '1 min'");
    await sending.db.query("update webhook.lanes set next_due = now() - interval '1 min', bound_due = '-infinity'");
    const { eventId } = await sendTest(sending.db, keyOf(receiver), recordNothing);
    await eventually(() => expect(server.requests.map(({ body }) => body.id)[0]).toBe(eventId));
  });

  it("sends at once the delivery that is asked for, before what is overdue", async () => {
    const [, , last] = await waiting();
    await sending.db.query("update webhook.deliveries set due_at = now() - interval '1 min' where id <> $1", [last?.id]);
    await sending.db.query("update webhook.lanes set next_due = now() - interval '1 min', bound_due = '-infinity'");
    const event = await eventIdOf(last?.id ?? "");
    await replayDelivery(sending.db, { brandId: receiver.brand, deliveryId: last?.id ?? "" }, recordNothing);
    await eventually(() => expect(server.requests.map(({ body }) => body.id)).toEqual([event]));
  });

  it("sends all once the first is accepted, in one go", async () => {
    const held: ServerResponse[] = [];
    server.respond = (response) => void held.push(response);
    const { receiver: sent } = await sendWaiting(sending.db, keyOf(receiver), true, recordNothing, { chunkRows: 2 });
    expect(sent.paused_until).toBeNull();
    expect(BEFORE_OR_AFTER_CLAIM).toContain(sent.waiting);
    server.respond = accept;
    held.forEach(accept);
    await eventually(() => expect(new Set(server.requests.map(({ body }) => body.id)).size).toBe(3));
    await eventually(async () => expect(await sending.db.query("select from webhook.deliveries")).toEqual([]));
  });
});

it("shows how many of those that wait are due", async () => {
  await sending.deliver([receiver], 5);
  await sending.db.query(
    "update webhook.deliveries set due_at = now() + interval '1 hour' where id = (select max(id) from webhook.deliveries)",
  );
  expect(await disableReceiver(sending.db, keyOf(receiver), recordNothing)).toMatchObject({ waiting: 5, waiting_due: 4 });
});

it("sends everything that was held once the receiver is enabled, also what would have waited for a retry", async () => {
  await failOnce(7);
  await disableReceiver(sending.db, keyOf(receiver), recordNothing);
  server.respond = accept;
  server.requests.length = 0;
  await enableReceiver(sending.db, keyOf(receiver), "release", recordNothing, { chunkRows: 2 });
  await eventually(() => expect(new Set(server.requests.map(({ body }) => body.id)).size).toBe(7));
});

it("keeps of a repeat that it was sent again, once it is finished", async () => {
  server.respond = accept;
  await sending.deliver([receiver]);
  sending.start();
  const finished = (): Promise<{ id: string; repeat_of: string | null }[]> =>
    sending.db.query("select id, repeat_of from webhook.past_deliveries order by id");
  await eventually(async () => expect(await finished()).toHaveLength(1));
  const [original] = await finished();
  const { id } = await replayDelivery(sending.db, { brandId: receiver.brand, deliveryId: original?.id ?? "" }, recordNothing);
  await eventually(async () => expect(await finished()).toEqual([original, { id, repeat_of: original?.id }]));
});

it("is refused while the receiver is disabled, for an unknown one, and sends nothing if nothing waits", async () => {
  expect(await sendWaiting(sending.db, keyOf(receiver), true, recordNothing)).toMatchObject({ first: undefined, receiver: { waiting: 0 } });
  await disableReceiver(sending.db, keyOf(receiver), recordNothing);
  await expect(sendWaiting(sending.db, keyOf(receiver), true, recordNothing)).rejects.toMatchObject({ kind: "receiver_disabled" });
  const unknown = { ...keyOf(receiver), receiverId: "rcv_unknown" };
  await expect(sendWaiting(sending.db, unknown, true, recordNothing)).rejects.toMatchObject({ kind: "not_found", field: "receiver_id" });
});

it("drops with a held delivery what its receiver answered, and nothing of another receiver", async () => {
  const other = await sending.createReceiver(server.url);
  await sending.deliver([other], 3);
  await failOnce(6, 3);
  const attempts = () => sending.db.query<{ rows: number }>("select count(*)::int as rows from webhook.attempts");
  expect(await attempts()).toEqual([{ rows: 6 }]);
  await disableReceiver(sending.db, keyOf(receiver), recordNothing);
  await enableReceiver(sending.db, keyOf(receiver), "drop", recordNothing, { chunkRows: 2 });
  expect(await attempts()).toEqual([{ rows: 3 }]);
  const left = await sending.db.query<{ receiver_id: string }>("select receiver_id from webhook.deliveries");
  expect(left.map(({ receiver_id }) => receiver_id)).toEqual([other.id, other.id, other.id]);
});
