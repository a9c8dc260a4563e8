import { eventually } from "@brand-records/testkit";
import { startReceivingServer, type ReceivingServer } from "../../test/receiving-server.ts";
import { useSending } from "../../test/serve-sending.ts";

/** One promise: receivers that hang, however many, leave a busy one its concurrency. */

const IN_FLIGHT_MAX = 1_000;
/** In flight at once to the busy receiver, of the 64 that a lane may have. It got one at a time. */
const KEPT = 32;
const EVENTS = 1_000;
/** A receiver's time to respond: without it, one in flight would be enough for all. */
const RESPONSE_MS = 100;
const WAIT_MS = 60_000;

const sending = useSending();
let hanging: ReceivingServer;
let healthy: ReceivingServer;
let inFlight = 0;
let peak = 0;
beforeAll(async () => {
  hanging = await startReceivingServer(() => {});
  healthy = await startReceivingServer((response) => {
    inFlight += 1;
    peak = Math.max(peak, inFlight);
    setTimeout(() => {
      inFlight -= 1;
      response.writeHead(204).end();
    }, RESPONSE_MS);
  });
});
afterEach(async () => {
  await hanging.stop();
  await healthy.stop();
});

it(
  "keeps 32 in flight to a busy receiver while 40 of 50 hang, each with room for 64",
  async () => {
    const stuck = await Promise.all(Array.from({ length: 40 }, () => sending.createReceiver(hanging.url)));
    for (const receiver of stuck) await sending.deliver([receiver], 64);
    const well = await Promise.all(Array.from({ length: 10 }, () => sending.createReceiver(healthy.url)));
    await sending.db.query("update webhook.lanes set max_in_flight = 64");
    // No attempt that hangs ends meanwhile.
    const sender = sending.start({ inFlightMax: IN_FLIGHT_MAX, deadlineMs: WAIT_MS });
    await eventually(() => expect(hanging.requests.length).toBeGreaterThanOrEqual(IN_FLIGHT_MAX / 2), { timeoutMs: WAIT_MS });

    for (const receiver of well.slice(1)) await sending.deliver([receiver]);
    await sending.deliver(well.slice(0, 1), EVENTS);
    sender.wake();
    await eventually(() => expect(healthy.requests.length).toBe(EVENTS + 9), { timeoutMs: WAIT_MS });

    expect(peak).toBeGreaterThanOrEqual(KEPT);
    expect(hanging.requests.length).toBeLessThan(IN_FLIGHT_MAX * 0.75);
  },
  2 * WAIT_MS,
);
