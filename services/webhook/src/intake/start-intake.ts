import {
  noStoredMessages,
  openKafkaReader,
  postgresDeadLetters,
  tracedIntake,
  type DeadLetters,
  type EventLogConfig,
  type Intake,
  type OnLost,
  type StoredMessages,
  type Subscription,
} from "@brand-records/event-log";
import { Mutex, type Clock, type Lifecycle } from "@brand-records/lifecycle";
import { openDatabaseSession, type Database } from "@brand-records/postgres";
import { IntakeServiceService } from "@brand-records/proto/webhook/v1";
import { service, type Handlers, type ServedService } from "@brand-records/rpc";
import { showSampled } from "@brand-records/service-runtime";
import { Counter, type Logger, type Registry } from "@brand-records/telemetry";
import { AppError } from "@brand-records/errors";
import type { KnownBrands } from "../known-brands.ts";
import type { FirstAttempts, Pacer } from "../use-cases/store-events.ts";
import { GROUP } from "../config.ts";
import { intakeMetrics, openIntake } from "./intake.ts";

const DEAD_LETTERS = "webhook.dead_letters";

export interface IntakeStart {
  readonly config: EventLogConfig & { readonly DATABASE_URL: string; readonly RETENTION_DAYS: number };
  readonly db: Database;
  readonly clock: Clock;
  readonly brands: KnownBrands;
  readonly first: FirstAttempts & Pacer;
  readonly life: Lifecycle;
  readonly registry: Registry;
  readonly log: Logger;
}

export interface StartedIntake {
  readonly deadLetters: DeadLetters;
  readonly messages: StoredMessages;
  /** Undefined without Kafka: then the relay calls `services`. */
  readonly subscription: Subscription | undefined;
  readonly services: readonly ServedService[];
}

/** Starts the intake: from Kafka if KAFKA_BROKERS is set, otherwise from the relay directly. */
export async function startIntake({ config, db, clock, brands, first, life, registry, log }: IntakeStart): Promise<StartedIntake> {
  const metrics = intakeMetrics(registry);
  const intakeInto = (deadLetters: DeadLetters): Intake =>
    tracedIntake(openIntake({ db, clock, first, brands, deadLetters, keepDays: config.RETENTION_DAYS, metrics, log }), config, GROUP);
  if (config.KAFKA_BROKERS.length === 0) {
    // Replayed messages go through the same intake.
    const deadLetters: DeadLetters = postgresDeadLetters(db, DEAD_LETTERS, (messages) => intake(messages));
    const intake = intakeInto(deadLetters);
    const services = [service(IntakeServiceService, intakeHandlers(intake))];
    const messages = noStoredMessages;
    showDeadLetters(registry, deadLetters);
    return { deadLetters: withExclusiveReplay(deadLetters, config.DATABASE_URL), messages, subscription: undefined, services };
  }
  const reader = life.own("event log reader", await openKafkaReader(config, GROUP, log));
  const subscription = life.own("event log subscription", reader.subscribe(intakeInto(reader.deadLetters), countLosses(registry)));
  showLag(registry, subscription);
  showDeadLetters(registry, reader.deadLetters);
  const { messages } = reader;
  return { deadLetters: withExclusiveReplay(reader.deadLetters, config.DATABASE_URL), messages, subscription, services: [] };
}

function countLosses(registry: Registry): OnLost {
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers: [registry] });
  const lost = counter("intake_lost_messages_total", "Messages that the log removed before they were stored, and that were passed over.");
  const restarts = counter("intake_log_restarts_total", "Partitions of the log that were made again, and are read from their beginning.");
  return (messages) => (messages === undefined ? restarts.inc() : lost.inc(messages));
}

function showLag(registry: Registry, subscription: Subscription): void {
  const help = "Messages in the log that are not stored yet; -1 while the brokers are unavailable.";
  const removed =
    "Messages that the log removed before they were stored, and that are not passed over yet; -1 while the brokers are unavailable.";
  showSampled(registry, () => subscription.lag(), [
    { name: "intake_lag_messages", help, of: ({ messages }) => messages },
    { name: "intake_removed_messages", help: removed, of: (lag) => lag.removed },
  ]);
}

function showDeadLetters(registry: Registry, deadLetters: DeadLetters): void {
  const help = "Messages that could not be stored and wait for an operator; -1 while they cannot be counted.";
  showSampled(registry, () => deadLetters.count(), [{ name: "dead_letters", help, of: (messages) => messages }]);
}

/** Position of a message received without Kafka. */
const DIRECT = "direct";

/** The reading end of the direct log. The relay waits until its messages are stored, and repeats a call that failed. */
export function intakeHandlers(intake: Intake): Handlers<IntakeServiceService> {
  // One call after another, as from a partition: two relays may overlap while one replaces the other.
  const queue = new Mutex();
  return {
    async publishMessages({ messages }) {
      const received = messages.map(({ key, value, headers }) => ({ key, value: Buffer.from(value), headers, position: DIRECT }));
      await queue.run(async () => {
        if (received.length > 0) await intake(received);
      });
      return {};
    },
  };
}

/** A replay that takes longer hangs: the server ends its session, and another may start. */
const REPLAY_MS_MAX = 600_000;

/**
 * Allows one replay or removal of dead letters at a time, over all processes: two replays would publish each letter twice, and a replay
 * during a removal would miss what the removal writes again.
 */
export function withExclusiveReplay(deadLetters: DeadLetters, databaseUrl: string): DeadLetters {
  const exclusively = async <T>(work: () => Promise<T>): Promise<T> => {
    const session = await openDatabaseSession({
      url: databaseUrl,
      applicationName: "webhook replay of dead letters",
      idleTimeoutMs: REPLAY_MS_MAX,
      keepalive: false,
    });
    try {
      const [row] = await session.query<{ locked: boolean }>(
        "select pg_try_advisory_lock(hashtext('brand-records dead letters')) as locked",
      );
      if (row?.locked !== true)
        throw new AppError("request_conflict", "The dead letters are already being replayed. List them again when that is done.");
      return await work();
    } finally {
      await session.stop().catch(() => {});
    }
  };
  return {
    put: (letters) => deadLetters.put(letters),
    list: (limit) => deadLetters.list(limit),
    count: () => deadLetters.count(),
    replay: () => exclusively(() => deadLetters.replay()),
    remove: (isRemoved) => exclusively(() => deadLetters.remove(isRemoved)),
  };
}
