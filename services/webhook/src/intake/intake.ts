import { readEventMessage, UnreadableMessage } from "@brand-records/resources";
import { UnprocessedMessages, type DeadLetter, type DeadLetters, type Intake, type ReceivedMessage } from "@brand-records/event-log";
import type { Clock } from "@brand-records/lifecycle";
import { dataProblemOf, type Database } from "@brand-records/postgres";
import {
  AGE_SECONDS_BUCKETS,
  Counter,
  Histogram,
  traceFields,
  wellFormedTraceparent,
  type Logger,
  type Registry,
} from "@brand-records/telemetry";
import { timeOfId } from "@brand-records/ids";
import { ensureDays } from "../storage/daily-partitions.ts";
import type { NewEvent } from "../storage/events.ts";
import type { KnownBrands } from "../known-brands.ts";
import { storeEvents, type FirstAttempts, type Pacer, type Stored } from "../use-cases/store-events.ts";

const DAY_MS = 86_400_000;
const FUTURE_DAYS_MAX = 1;
/** All parts of a batch together wait this long for room: a receiver's backlog must not hold up the events of all others. */
const ROOM_WAIT_MS = 1_000;
/** Accounts has this long to say which brands exist. All partitions of the batch wait for it. */
const LOOK_UP_MS = 1_000;

export interface IntakeMetrics {
  readonly events: Counter;
  readonly repeated: Counter;
  readonly deliveries: Counter;
  readonly dead: Counter;
  readonly dropped: Counter;
  readonly delay: Histogram;
}

export function intakeMetrics(registry: Registry): IntakeMetrics {
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers: [registry] });
  return {
    events: counter("intake_events_total", "Events stored from the log."),
    repeated: counter("intake_repeated_total", "Messages whose event was already stored."),
    deliveries: counter("intake_deliveries_total", "Deliveries created for receivers."),
    dead: counter("intake_dead_letters_total", "Messages that could not be stored and were dead-lettered."),
    dropped: counter("intake_dropped_total", "Messages of deleted brands, which were dropped."),
    delay: new Histogram({
      name: "event_intake_delay_seconds",
      help: "Time from an event to its storing.",
      buckets: AGE_SECONDS_BUCKETS,
      registers: [registry],
    }),
  };
}

export interface IntakeOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** Sends first attempts without a claim. */
  readonly first?: (FirstAttempts & Pacer) | undefined;
  readonly brands: Pick<KnownBrands, "lookUp">;
  readonly deadLetters: DeadLetters;
  /** Whole days for which events are kept. An older event would be dropped before it was sent. */
  readonly keepDays: number;
  readonly metrics: IntakeMetrics;
  readonly log: Logger;
}

interface Readable {
  readonly message: ReceivedMessage;
  readonly event: NewEvent;
}

/** Messages of a batch that are not stored as events. */
interface Others {
  readonly dead: DeadLetter[];
  /** To be repeated, since accounts or the dead-letter store is unavailable. */
  readonly held: ReceivedMessage[];
  /** Their brands: no later message of the batch may overtake one that is held. */
  readonly heldBrands: Set<string>;
  cause?: unknown;
}

/**
 * Stores messages as events and deliveries, a batch in one transaction. Messages that cannot be stored are dead-lettered with
 * the reason and hold up no other; those of deleted brands are dropped. Rejects only if the database is unavailable, or, with the
 * UnprocessedMessages, accounts or the dead-letter store: then the log delivers the same messages again, and those that were already
 * stored change nothing.
 */
export function openIntake(options: IntakeOptions): Intake {
  const days = new Set<string>();

  return async (messages) => {
    const startedAt = performance.now();
    const { clock, metrics, log } = options;
    const { readable, dead } = read(messages, options.keepDays, clock.now());
    if (log.isLevelEnabled("debug")) for (const each of readable) log.debug(logFieldsOf(each), "event received");
    await ensureNewDays(options.db, days, readable);
    const others: Others = { dead, held: [], heldBrands: new Set() };
    const { events, createdAt, repeated, deliveries, dropped } = await storeAll(options, readable, others);
    await putDead(options, others);
    metrics.events.inc(events);
    for (const time of createdAt) metrics.delay.observe(Math.max(0, clock.now() - Date.parse(time)) / 1_000);
    metrics.repeated.inc(repeated);
    metrics.deliveries.inc(deliveries);
    metrics.dropped.inc(dropped);
    const from = messages[0]?.position;
    if (dropped > 0) log.info({ from, dropped }, "messages of deleted brands dropped");
    const counts = { messages: messages.length, events, deliveries, dead: dead.length, held: others.held.length };
    log.info({ from, ...counts, duration_ms: Math.round(performance.now() - startedAt) }, "messages stored");
    if (others.held.length > 0) throw new UnprocessedMessages(others.held, others.cause);
  };
}

async function putDead({ deadLetters, metrics, log }: IntakeOptions, others: Others): Promise<void> {
  const { dead, held } = others;
  if (dead.length === 0) return;
  // While others are held, so are these: without Kafka all messages come again, and these would become dead letters each time.
  const isPut =
    held.length === 0 &&
    (await deadLetters.put(dead).then(
      () => true,
      (cause: unknown) => void (others.cause = cause),
    ));
  if (isPut !== true) return void held.push(...dead.splice(0).map(({ message }) => message));
  metrics.dead.inc(dead.length);
  for (const { message, reason } of dead.slice(0, 10)) {
    log.warn({ position: message.position, reason, ...traceOf(message) }, "message dead-lettered");
  }
}

function logFieldsOf({ message, event: { id, type, brand_id } }: Readable): object {
  return { event_id: id, type, brand_id, position: message.position, ...traceOf(message) };
}

/** Anything may be in a message's headers. */
function traceOf({ headers }: ReceivedMessage): object {
  const traceparent = wellFormedTraceparent(headers["traceparent"]);
  return traceparent === null ? {} : traceFields(traceparent);
}

/** Separates the messages that are events from the others. */
function read(messages: readonly ReceivedMessage[], keepDays: number, now: number): { readable: Readable[]; dead: DeadLetter[] } {
  const dead: DeadLetter[] = [];
  const readable: Readable[] = [];
  for (const message of messages) {
    try {
      readable.push({ message, event: eventFrom(message, keepDays, now) });
    } catch (error) {
      if (!(error instanceof UnreadableMessage)) throw error;
      dead.push({ message, reason: error.message });
    }
  }
  return { readable, dead };
}

function eventFrom({ key, value, headers }: ReceivedMessage, keepDays: number, now: number): NewEvent {
  const { event, dataJson } = readEventMessage(value);
  const { id, created_at, brand_id, type, data } = event;
  if (key !== data.id) throw new UnreadableMessage("its key is not the record's id");
  // Id and time together identify an event: with another time it would be another event under the same id.
  if (!(Math.abs(timeOfId(id) - Date.parse(created_at)) <= 1)) throw new UnreadableMessage("created_at is not the time in its id");
  const ageDays = (now - Date.parse(created_at)) / DAY_MS;
  if (ageDays > keepDays) throw new UnreadableMessage(`created_at is over ${keepDays} days ago`);
  if (ageDays < -FUTURE_DAYS_MAX) throw new UnreadableMessage("created_at is in the future");
  return { id, created_at, brand_id, type, data: dataJson, traceparent: wellFormedTraceparent(headers["traceparent"]) };
}

async function ensureNewDays(db: Database, known: Set<string>, readable: readonly Readable[]): Promise<void> {
  const days = new Set(readable.map(({ event }) => event.created_at.slice(0, 10)).filter((day) => !known.has(day)));
  await ensureDays(db, [...days]);
  for (const day of days) known.add(day);
}

async function storeAll(options: IntakeOptions, readable: readonly Readable[], others: Others): Promise<Stored> {
  const { first } = options;
  if (first === undefined) return storeKnown(options, readable, others);
  let total = NOTHING;
  const until = performance.now() + ROOM_WAIT_MS;
  for (let at = 0; at < readable.length;) {
    const some = readable.slice(at, at + first.eventsMax);
    const giveBack = await first.untilRoom(some.length, until);
    let stored: Stored | undefined;
    try {
      stored = await storeKnown(options, some, others);
    } finally {
      giveBack(stored?.deliveries);
    }
    total = sum(total, stored);
    at += some.length;
  }
  return total;
}

/**
 * Stores messages of brands that exist, drops those of deleted brands, and dead-letters those of others. Accounts is asked about brands
 * that the table does not have, and then again: a brand may be deleted at any time. While it is away, messages of these are held.
 */
async function storeKnown(options: IntakeOptions, readable: readonly Readable[], others: Others): Promise<Stored> {
  const { dead, held, heldBrands } = others;
  const isHeld = ({ event }: Readable): boolean => heldBrands.has(event.brand_id);
  held.push(...readable.filter(isHeld).map(({ message }) => message));
  let total = NOTHING;
  for (let left = readable.filter((each) => !isHeld(each)); left.length > 0;) {
    const stored = await store(options, left, dead);
    total = sum(total, stored);
    const unknown = left.filter(({ event }) => stored.unknownBrands.has(event.brand_id));
    if (unknown.length === 0) break;
    const found = await options.brands.lookUp([...stored.unknownBrands], LOOK_UP_MS).catch((cause: unknown) => void (others.cause = cause));
    if (found === undefined) {
      held.push(...unknown.map(({ message }) => message));
      for (const { event } of unknown) heldBrands.add(event.brand_id);
      break;
    }
    const { existing, deleted } = found;
    left = unknown.filter(({ event }) => existing.has(event.brand_id));
    for (const { message, event } of unknown) {
      if (deleted.has(event.brand_id)) total = { ...total, dropped: total.dropped + 1 };
      else if (!existing.has(event.brand_id)) dead.push({ message, reason: "there is no such brand" });
    }
  }
  return total;
}

/** Stores all messages in one transaction. If Postgres refuses their data, stores each alone and dead-letters the refused ones. */
async function store(options: IntakeOptions, readable: readonly Readable[], dead: DeadLetter[]): Promise<Stored> {
  try {
    return await storeEvents(
      options.db,
      readable.map(({ event }) => event),
      options.first,
    );
  } catch (error) {
    const wrong = dataProblemOf(error);
    const [only] = readable;
    if (wrong === undefined || only === undefined) throw error;
    if (readable.length === 1) {
      dead.push({ message: only.message, reason: `the database refuses it (SQLSTATE ${wrong})` });
      return NOTHING;
    }
  }
  let total = NOTHING;
  for (const each of readable) total = sum(total, await store(options, [each], dead));
  return total;
}

const NOTHING: Stored = { events: 0, createdAt: [], repeated: 0, deliveries: 0, dropped: 0, unknownBrands: new Set() };

const sum = (a: Stored, b: Stored): Stored => ({
  events: a.events + b.events,
  createdAt: [...a.createdAt, ...b.createdAt],
  repeated: a.repeated + b.repeated,
  deliveries: a.deliveries + b.deliveries,
  dropped: a.dropped + b.dropped,
  unknownBrands: new Set([...a.unknownBrands, ...b.unknownBrands]),
});
