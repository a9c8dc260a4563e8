import { EVENT_TYPES } from "@brand-records/brand-events";
import type { DeadLetters } from "@brand-records/event-log";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { newId } from "@brand-records/typeid";
import { serveSending, type ServedSending } from "../../test/serve-sending.ts";
import { intakeMetrics, openIntake } from "./intake.ts";

/** One promise: a batch waits for room once, however many parts it is stored in. */

let sending: ServedSending;
beforeEach(async () => {
  sending = await serveSending();
});
afterEach(() => sending.stop());

const messageOf = (brandId: string) => {
  const at = Date.now();
  const event = { id: newId("evt", at), type: "payout.paid", created_at: new Date(at).toISOString(), brand_id: brandId };
  const data = EVENT_TYPES["payout.paid"].example(event.created_at);
  return { key: data.id, value: Buffer.from(JSON.stringify({ ...event, data })), headers: {}, position: "topic/0@1" };
};

/** Nothing here is dead-lettered. */
const deadLetters: DeadLetters = {
  put: async (letters) => expect(letters).toEqual([]),
  list: async () => ({ deadLetters: [], total: 0 }),
  count: async () => 0,
  replay: async () => 0,
  remove: async () => 0,
};

it("gives all parts of a batch one time until which they wait", async () => {
  const { brand } = await sending.createReceiver("http://127.0.0.1:9/");
  const sender = sending.start();
  const waits: { readonly events: number; readonly until: number }[] = [];
  const first = {
    eventsMax: 2,
    leaseSeconds: sender.leaseSeconds,
    untilRoom: async (events: number, until: number) => {
      waits.push({ events, until });
      return () => {};
    },
    reservation: () => sender.reservation(),
    release: (attempts: number) => sender.release(attempts),
    send: () => {},
    reconcile: () => {},
  };
  const intake = openIntake({
    db: sending.db,
    clock: Date,
    first,
    brands: { lookUp: async () => ({ existing: new Set(), deleted: new Set() }) },
    deadLetters,
    keepDays: 30,
    metrics: intakeMetrics(openMetrics("webhook")),
    log: openLog("webhook", "silent"),
  });
  const before = performance.now();
  await intake(Array.from({ length: 5 }, () => messageOf(brand)));
  expect(waits.map(({ events }) => events)).toEqual([2, 2, 1]);
  expect(new Set(waits.map(({ until }) => until)).size).toBe(1);
  expect(waits[0]?.until).toBeGreaterThan(before);
  expect(await sending.db.query("select from webhook.events")).toHaveLength(5);
});
