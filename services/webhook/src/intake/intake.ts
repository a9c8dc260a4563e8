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

export type IntakeMetrics = ReturnType<typeof intakeMetrics>;

export function intakeMetrics(registry: Registry) {
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

/**
 * What becomes of the messages of a batch. Each ends in one of these states:
 *
 * | State   | Why                                                           | Then                                  |
 * | ------- | ------------------------------------------------------------- | ------------------------------------- |
 * | stored  | its event and deliveries are committed, now or before         | nothing: a repeated message changes nothing |
 * | dropped | its brand is deleted, or is being deleted                     | nothing                               |
 * | dead    | it can never be stored                                        | it goes to the dead letters, with the reason |
 * | held    | accounts or the dead-letter store is unavailable              | the log gives it again                |
 */
class BatchOutcome {
  readonly createdAt: string[] = [];
  repeated = 0;
  deliveries = 0;
  dropped = 0;
  readonly dead: DeadLetter[] = [];
  readonly held: ReceivedMessage[] = [];
  readonly #heldBrands = new Set<string>();
  cause: unknown;

  addStored({ createdAt, repeated, deliveries, dropped }: Stored): void {
    this.createdAt.push(...createdAt);
    this.repeated += repeated;
    this.deliveries += deliveries;
    this.dropped += dropped;
  }

  /** Holds messages, and all later ones of their brands in the batch, which must not overtake them. */
  hold(messages: readonly Readable[], cause: unknown): void {
    this.held.push(...messages.map(({ message }) => message));
    for (const { event } of messages) this.#heldBrands.add(event.brand_id);
    this.cause = cause;
  }

  /** Holds what may not overtake messages that are held. Returns the rest. */
  storable(messages: readonly Readable[]): Readable[] {
    const isHeld = ({ event }: Readable): boolean => this.#heldBrands.has(event.brand_id);
    this.held.push(...messages.filter(isHeld).map(({ message }) => message));
    return messages.filter((each) => !isHeld(each));
  }

  holdDead(): void {
    this.held.push(...this.dead.splice(0).map(({ message }) => message));
  }
}

/**
 * Stores messages as events and deliveries, a batch in one transaction. A message that cannot be stored holds up no other. Rejects only if
 * the database is unavailable, or, with the UnprocessedMessages, accounts or the dead-letter store: then the log delivers the same messages
 * again.
 */
export function openIntake(options: IntakeOptions): Intake {
  const days = new Set<string>();

  return async (messages) => {
    const startedAt = performance.now();
    const { clock, metrics, log } = options;
    const outcome = new BatchOutcome();
    const readable = read(messages, options.keepDays, clock.now(), outcome);
    if (log.isLevelEnabled("debug")) for (const each of readable) log.debug(logFieldsOf(each), "event received");
    await ensureNewDays(options.db, days, readable);
    await storeInParts(options, readable, outcome);
    await putDead(options, outcome);
    const { createdAt, repeated, deliveries, dropped, dead, held, cause } = outcome;
    const events = createdAt.length;
    metrics.events.inc(events);
    for (const time of createdAt) metrics.delay.observe(Math.max(0, clock.now() - Date.parse(time)) / 1_000);
    metrics.repeated.inc(repeated);
    metrics.deliveries.inc(deliveries);
    metrics.dropped.inc(dropped);
    const from = messages[0]?.position;
    if (dropped > 0) log.info({ from, dropped }, "messages of deleted brands dropped");
    const counts = { messages: messages.length, events, deliveries, dead: dead.length, held: held.length };
    log.info({ from, ...counts, duration_ms: Math.round(performance.now() - startedAt) }, "messages stored");
    if (held.length > 0) throw new UnprocessedMessages(held, cause);
  };
}

async function putDead({ deadLetters, metrics, log }: IntakeOptions, outcome: BatchOutcome): Promise<void> {
  const { dead, held } = outcome;
  if (dead.length === 0) return;
  // While others are held, so are these: without Kafka all messages come again, and these would become dead letters each time.
  if (held.length > 0) return outcome.holdDead();
  try {
    await deadLetters.put(dead);
  } catch (cause) {
    outcome.cause = cause;
    return outcome.holdDead();
  }
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

/** Returns the messages that are events. The others are dead. */
function read(messages: readonly ReceivedMessage[], keepDays: number, now: number, { dead }: BatchOutcome): Readable[] {
  return messages.flatMap((message) => {
    try {
      return [{ message, event: eventFrom(message, keepDays, now) }];
    } catch (error) {
      if (!(error instanceof UnreadableMessage)) throw error;
      dead.push({ message, reason: error.message });
      return [];
    }
  });
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

/** Stores as much at a time as the sender has room for. */
async function storeInParts(options: IntakeOptions, readable: readonly Readable[], outcome: BatchOutcome): Promise<void> {
  const { first } = options;
  if (first === undefined) return storeKnown(options, readable, outcome);
  const until = performance.now() + ROOM_WAIT_MS;
  for (let at = 0; at < readable.length;) {
    const part = readable.slice(at, at + first.eventsMax);
    at += part.length;
    const giveBack = await first.untilRoom(part.length, until);
    const before = outcome.deliveries;
    let added: number | undefined;
    try {
      await storeKnown(options, part, outcome);
      added = outcome.deliveries - before;
    } finally {
      giveBack(added);
    }
  }
}

/** Stores messages of brands that the table has. Asks accounts about the others, and then stores again: a brand may be deleted at any time. */
async function storeKnown(options: IntakeOptions, readable: readonly Readable[], outcome: BatchOutcome): Promise<void> {
  let left = outcome.storable(readable);
  while (left.length > 0) {
    const unknownBrands = await store(options, left, outcome);
    const unknown = left.filter(({ event }) => unknownBrands.has(event.brand_id));
    left = unknown.length === 0 ? [] : await ofExistingBrands(options, unknown, outcome);
  }
}

/** Asks accounts about the brands of messages. Returns those whose brand exists: the table has it now. */
async function ofExistingBrands({ brands }: IntakeOptions, unknown: readonly Readable[], outcome: BatchOutcome): Promise<Readable[]> {
  const brandIds = new Set(unknown.map(({ event }) => event.brand_id));
  const found = await brands.lookUp([...brandIds], LOOK_UP_MS).catch((cause: unknown) => outcome.hold(unknown, cause));
  if (found === undefined) return [];
  const { existing, deleted } = found;
  for (const { message, event } of unknown) {
    if (deleted.has(event.brand_id)) outcome.dropped += 1;
    else if (!existing.has(event.brand_id)) outcome.dead.push({ message, reason: "there is no such brand" });
  }
  return unknown.filter(({ event }) => existing.has(event.brand_id));
}

/**
 * Stores all messages in one transaction. If Postgres refuses their data, stores each alone; the refused ones are dead.
 *
 * @returns brands that the table does not have: their messages are not stored
 */
async function store(options: IntakeOptions, readable: readonly Readable[], outcome: BatchOutcome): Promise<ReadonlySet<string>> {
  const events = readable.map(({ event }) => event);
  try {
    const stored = await storeEvents(options.db, events, options.first);
    outcome.addStored(stored);
    return stored.unknownBrands;
  } catch (error) {
    const sqlState = dataProblemOf(error);
    const [only, ...others] = readable;
    if (sqlState === undefined || only === undefined) throw error;
    if (others.length === 0) {
      outcome.dead.push({ message: only.message, reason: `the database refuses it (SQLSTATE ${sqlState})` });
      return new Set();
    }
  }
  const unknownBrands = new Set<string>();
  for (const each of readable) for (const brandId of await store(options, [each], outcome)) unknownBrands.add(brandId);
  return unknownBrands;
}
