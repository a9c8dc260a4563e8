import { UnprocessedMessages, type Intake, type ReceivedMessage } from "@brand-records/event-log";
import { AppError } from "@brand-records/errors";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { newId } from "@brand-records/ids";
import { useSending } from "../../test/serve-sending.ts";
import { messageOf } from "../../test/add-events.ts";
import { callContext, NO_DEAD_LETTERS } from "../../test/serve-receivers.ts";
import type { FirstAttempts, Pacer } from "../use-cases/store-events.ts";
import { intakeMetrics, openIntake } from "./intake.ts";
import { intakeHandlers } from "./start-intake.ts";

const sending = useSending();

type Options = Parameters<typeof openIntake>[0];

/** Nothing is dead-lettered, and no brand is unknown, but what a test says. */
const open = (more: Partial<Options>): Intake =>
  openIntake({
    db: sending.db,
    clock: Date,
    brands: { lookUp: async () => ({ existing: new Set(), deleted: new Set() }) },
    deadLetters: NO_DEAD_LETTERS,
    keepDays: 30,
    metrics: intakeMetrics(openMetrics("webhook")),
    log: openLog("webhook", "silent"),
    ...more,
  });

/** A sender that sends nothing. */
const startFirst = (eventsMax: number, untilRoom: Pacer["untilRoom"]): FirstAttempts & Pacer => {
  const sender = sending.start();
  return {
    eventsMax,
    untilRoom,
    leaseSeconds: sender.leaseSeconds,
    reservation: () => sender.reservation(),
    release: (attempts) => sender.release(attempts),
    send: () => {},
    reconcile: () => {},
  };
};

it("gives all parts of a batch one time until which they wait", async () => {
  const { brand } = await sending.createReceiver("http://127.0.0.1:9/");
  const waits: { readonly events: number; readonly until: number }[] = [];
  const intake = open({
    first: startFirst(2, async (events, until) => {
      waits.push({ events, until });
      return () => {};
    }),
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
    open({
      brands: {
        lookUp: async (_, timeoutMs) => {
          waits.push(timeoutMs);
          throw away;
        },
      },
      deadLetters: {
        ...NO_DEAD_LETTERS,
        put: async (letters) => {
          if (isPutRefused) throw away;
          put += letters.length;
        },
      },
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
    const brand = newId("brd");
    const lookUp = async () => {
      await sending.db.query("insert into webhook.brands (brand_id) values ($1) on conflict do nothing", [brand]);
      throw away;
    };
    const intake = open({ first: startFirst(1, async () => () => {}), brands: { lookUp } });
    const messages = [messageOf(brand), messageOf(brand)];
    await expect(intake(messages)).rejects.toMatchObject({ messages });
    expect(await sending.db.query("select from webhook.events")).toHaveLength(0);
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
