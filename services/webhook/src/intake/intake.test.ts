import { EVENT_TYPES } from "@brand-records/resources";
import { UnprocessedMessages, type DeadLetters, type Intake, type ReceivedMessage } from "@brand-records/event-log";
import { AppError } from "@brand-records/errors";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { newId } from "@brand-records/ids";
import { useSending } from "../../test/serve-sending.ts";
import { callContext } from "../../test/serve-receivers.ts";
import { intakeMetrics, openIntake } from "./intake.ts";
import { intakeHandlers } from "./start-intake.ts";

const sending = useSending();

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

describe("while accounts is away", () => {
  const away = new AppError("unavailable", "accounts is away", { dependency: "accounts" });
  let put: number;
  let isPutRefused: boolean;
  let waits: (number | undefined)[];
  const openHolding = () =>
    openIntake({
      db: sending.db,
      clock: Date,
      brands: {
        lookUp: async (_, timeoutMs) => {
          waits.push(timeoutMs);
          throw away;
        },
      },
      deadLetters: {
        ...deadLetters,
        put: async (letters) => {
          if (isPutRefused) throw away;
          put += letters.length;
        },
      },
      keepDays: 30,
      metrics: intakeMetrics(openMetrics("webhook")),
      log: openLog("webhook", "silent"),
    });
  beforeEach(() => void ([put, isPutRefused, waits] = [0, false, []]));
  const unreadable = () => ({ ...messageOf("brd_x"), value: Buffer.from("{") });

  it("stores the events of known brands, hands back those of others, and asks for a second at most", async () => {
    const { brand } = await sending.createReceiver("http://127.0.0.1:9/");
    const messages = [messageOf(brand), messageOf("brd_unknown"), messageOf(brand), messageOf("brd_unknown")];
    const error: unknown = await openHolding()(messages).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnprocessedMessages);
    expect(error).toMatchObject({ kind: "unavailable", dependency: "accounts", cause: away });
    expect((error as UnprocessedMessages).messages).toEqual([messages[1], messages[3]]);
    expect(await sending.db.query("select from webhook.events")).toHaveLength(2);
    expect(waits).toEqual([1_000]);
    await openHolding()([messageOf(brand)]);
    expect(waits).toHaveLength(1);
  });

  it("holds a brand's later events of the batch with its first, though accounts is back before them", async () => {
    const sender = sending.start();
    const first = {
      eventsMax: 1,
      leaseSeconds: sender.leaseSeconds,
      untilRoom: async () => () => {},
      reservation: () => sender.reservation(),
      release: (attempts: number) => sender.release(attempts),
      send: () => {},
      reconcile: () => {},
    };
    const brand = newId("brd");
    const lookUp = async () => {
      waits.push(undefined);
      await sending.db.query("insert into webhook.brands (brand_id) values ($1) on conflict do nothing", [brand]);
      throw away;
    };
    const { db } = sending;
    const options = { db, clock: Date, first, brands: { lookUp }, deadLetters, keepDays: 30 };
    const intake = openIntake({ ...options, metrics: intakeMetrics(openMetrics("webhook")), log: openLog("webhook", "silent") });
    const messages = [messageOf(brand), messageOf(brand)];
    await expect(intake(messages)).rejects.toMatchObject({ messages });
    expect(await db.query("select from webhook.events")).toHaveLength(0);
  });

  it("puts dead letters only when nothing else is handed back, so that repeats put none twice", async () => {
    const messages = [unreadable(), messageOf("brd_unknown")];
    await expect(openHolding()(messages)).rejects.toMatchObject({ messages: [messages[1], messages[0]] });
    expect(put).toBe(0);
    await openHolding()([unreadable()]);
    expect(put).toBe(1);
  });

  it("stores events and hands back dead letters that cannot be put", async () => {
    const { brand } = await sending.createReceiver("http://127.0.0.1:9/");
    isPutRefused = true;
    const messages = [unreadable(), messageOf(brand)];
    await expect(openHolding()(messages)).rejects.toMatchObject({ messages: [messages[0]] });
    expect(await sending.db.query("select from webhook.events")).toHaveLength(1);
  });
});

describe("PublishMessages", () => {
  const message = (key: string) => ({ key, value: Buffer.from([0, 255, 10]), headers: { traceparent: "00-1-2-01" } });

  it("passes key, bytes and headers to the intake, and nothing for an empty call", async () => {
    const received: ReceivedMessage[] = [];
    const { publishMessages } = intakeHandlers(async (messages) => void received.push(...messages));
    await publishMessages({ messages: [] }, callContext());
    await publishMessages({ messages: [message("sub_1")] }, callContext());
    expect(received).toEqual([{ ...message("sub_1"), position: "direct" }]);
  });

  it("stores simultaneous calls one after another, in their order, and continues after one that failed", async () => {
    const started: string[] = [];
    const stored = new Map<string, PromiseWithResolvers<void>>();
    const intake: Intake = async (messages) => {
      const key = messages[0]?.key ?? "";
      started.push(key);
      await stored.get(key)?.promise;
    };
    const { publishMessages } = intakeHandlers(intake);
    const calls = ["sub_1", "sub_2", "sub_3"].map((key) => {
      stored.set(key, Promise.withResolvers<void>());
      return publishMessages({ messages: [message(key)] }, callContext());
    });
    const outcomes = Promise.allSettled(calls);
    await new Promise(setImmediate);
    expect(started).toEqual(["sub_1"]);
    stored.get("sub_1")?.reject(new Error("no database"));
    await expect(calls[0]).rejects.toThrow("no database");
    await new Promise(setImmediate);
    expect(started).toEqual(["sub_1", "sub_2"]);
    stored.get("sub_2")?.resolve();
    stored.get("sub_3")?.resolve();
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
    expect(started).toEqual(["sub_1", "sub_2", "sub_3"]);
  });
});
