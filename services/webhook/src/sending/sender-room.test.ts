import type { ServerResponse } from "node:http";
import { eventually } from "@brand-records/testkit";
import { startReceivingServer, type ReceivingServer } from "../../test/receiving-server.ts";
import { useSending } from "../../test/serve-sending.ts";
import type { Sender } from "./sender.ts";

/** One promise: intake waits for room that comes soon, and for no receiver that hangs. */

/** Half of these are first attempts of intake. */
const IN_FLIGHT_MAX = 8;
/** Milliseconds after the start of a test. */
const LATER = 1_000;

const sending = useSending();
let server: ReceivingServer;
let sender: Sender;
let responses: ServerResponse[];
beforeEach(async () => {
  responses = [];
  server = await startReceivingServer((response) => void responses.push(response));
  sender = sending.start({ inFlightMax: IN_FLIGHT_MAX });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await server.stop();
});

/** Fills half of the process with attempts that wait for a response. */
async function fill(): Promise<void> {
  const receiver = await sending.createReceiver(server.url);
  await sending.deliver([receiver], IN_FLIGHT_MAX / 2);
  sender.wake();
  await eventually(() => expect(responses.length).toBe(IN_FLIGHT_MAX / 2));
}

const respond = (count: number): void => {
  for (const response of responses.splice(0, count)) response.writeHead(204).end();
};

/** Resolves with the name of what ends first. */
const first = (room: Promise<unknown>, otherwise: Promise<unknown>): Promise<string> =>
  Promise.race([room.then(() => "room"), otherwise.then(() => "full")]);

/** Sets the clock of the process, so that no wait of a busy machine counts. */
const clock = (ms: number): void => void jest.spyOn(performance, "now").mockReturnValue(ms);

it("waits until as many attempts have ended as intake wants to make, and keeps the room for it", async () => {
  clock(0);
  await fill();
  const room = sender.untilRoom(2, LATER);
  respond(1);
  const oneEnded = eventually(async () => expect(await sending.db.query("select from webhook.past_deliveries")).toHaveLength(1));
  expect(await first(room, oneEnded)).toBe("full");
  respond(1);
  const giveBack = await room;
  const next = sender.untilRoom(2, LATER);
  expect(await first(next, Promise.resolve())).toBe("full");
  giveBack();
  await next;
});

it("wants room for as many deliveries as events have had lately", async () => {
  clock(0);
  expect(sender.eventsMax).toBe(2);
  (await sender.untilRoom(1, LATER))(4);
  expect(sender.eventsMax).toBe(1);
  await fill();
  const room = sender.untilRoom(1, LATER);
  respond(1);
  const oneEnded = eventually(async () => expect(await sending.db.query("select from webhook.past_deliveries")).toHaveLength(1));
  expect(await first(room, oneEnded)).toBe("full");
  respond(1);
  (await room)(0);
  expect(sender.eventsMax).toBe(1);
  (await sender.untilRoom(1, LATER))(0);
  expect(sender.eventsMax).toBe(2);
});

it("does not wait for attempts that have been in flight for long", async () => {
  clock(0);
  await fill();
  clock(300);
  await sender.untilRoom(2, LATER);
  expect(responses).toHaveLength(IN_FLIGHT_MAX / 2);
});

it("does not wait beyond its time", async () => {
  clock(LATER);
  await fill();
  await sender.untilRoom(2, LATER);
  expect(responses).toHaveLength(IN_FLIGHT_MAX / 2);
});

it("does not wait once it stops", async () => {
  await fill();
  const stopped = sender.stop();
  await sender.untilRoom(2, performance.now() + LATER);
  expect(responses).toHaveLength(IN_FLIGHT_MAX / 2);
  respond(IN_FLIGHT_MAX);
  await stopped;
});
