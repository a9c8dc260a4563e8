import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { useSending, type MadeReceiver } from "../../test/serve-sending.ts";
import { receiverStates } from "./receiver-states.ts";

const sending = useSending();

const setLane = ({ id }: MadeReceiver, columns: string) =>
  sending.db.query(`update webhook.lanes set ${columns} where receiver_id = $1`, [id]);

it("counts receivers by what a sender does with them", async () => {
  const make = () => sending.createReceiver("https://receiver.example/hook");
  await make();
  await setLane(await make(), "last_delivery_at = now()");
  await setLane(await make(), "last_delivery_at = now(), failed_in_a_row = 1, failures = 1");
  await setLane(await make(), "last_delivery_at = now() - interval '2 hours', failed_in_a_row = 1, failures = 1");
  await setLane(await make(), "last_delivery_at = now(), failed_in_a_row = 10, open_until = now() + interval '1 minute'");
  await setLane(await make(), "last_delivery_at = now(), failed_in_a_row = 10, held = true, open_until = now() + interval '1 minute'");
  expect(await receiverStates(sending.db)).toEqual({ enabled: 5, disabled: 1, attempted: 3, failing: 2, open: 1, oldest_due_seconds: 0 });
});

it.each([
  ["nothing, if no delivery is due", "next_due = next_due", "now() + interval '1 hour'", false],
  ["how long a delivery waits that could be sent", "next_due = next_due", "now() - interval '1 hour'", true],
  ["no delivery of a disabled receiver", "held = true", "now() - interval '1 hour'", false],
  ["no delivery behind an open circuit", "open_until = now() + interval '1 minute'", "now() - interval '1 hour'", false],
  ["no delivery of a receiver whose last attempt failed", "failed_in_a_row = 1", "now() - interval '1 hour'", false],
  ["no delivery of a receiver that has no room", "in_flight = max_in_flight", "now() - interval '1 hour'", false],
  [
    "how long a delivery waits that is not claimed, although its receiver is served",
    "last_served = now(), in_flight = 1",
    "now() - interval '1 hour'",
    true,
  ],
])("shows %s", async (_, lane, dueAt, isShown) => {
  const receiver = await sending.createReceiver("https://receiver.example/hook");
  await sending.deliver([receiver], 2);
  await setLane(receiver, lane);
  await sending.db.query(`update webhook.deliveries set due_at = ${dueAt}`);
  const { oldest_due_seconds: seconds } = await receiverStates(sending.db);
  if (isShown) expect(Math.round(seconds / 60)).toBe(60);
  else expect(seconds).toBe(0);
});

it("shows no backlog while a receiver works that is slower than its events", async () => {
  const count = 60;
  const arrived = Promise.withResolvers<void>();
  let responses = 0;
  const server = createServer((request, response) => {
    arrived.resolve();
    request.resume().on("end", () => setTimeout(() => response.writeHead(204).end(() => (responses += 1)), 20));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const receiver = await sending.createReceiver(url, { maxInFlight: 1 });
    await sending.deliver([receiver], count);
    await sending.db.query("update webhook.deliveries set due_at = now() - interval '1 hour'");
    await setLane(receiver, "next_due = '-infinity'");
    sending.start();
    await arrived.promise;
    const shown = new Set<number>();
    while (responses < count) shown.add((await receiverStates(sending.db)).oldest_due_seconds);
    expect(shown).toEqual(new Set([0]));
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
