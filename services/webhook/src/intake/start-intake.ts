import {
  intakeHandlers,
  openKafkaReader,
  postgresDeadLetters,
  type DeadLetters,
  type EventLogConfig,
  type Intake,
  type Subscription,
} from "@brand-records/event-log";
import type { Lifecycle } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import { IntakeServiceService } from "@brand-records/proto/webhook/v1";
import { service, type ServedService } from "@brand-records/rpc";
import { Gauge, type Logger, type Registry } from "@brand-records/telemetry";
import type { KnownBrands } from "../brands/known-brands.ts";
import { intakeMetrics } from "./intake-metrics.ts";
import { openIntake } from "./intake.ts";
import { oneReplayAtATime } from "./one-replay.ts";

/** Processes of this group share the log's messages. */
const GROUP = "webhook";
const DEAD_LETTERS = "webhook.dead_letters";

export interface IntakeStart {
  readonly config: EventLogConfig & { readonly DATABASE_URL: string; readonly RETENTION_DAYS: number };
  readonly db: Database;
  readonly brands: KnownBrands;
  readonly life: Lifecycle;
  readonly registry: Registry;
  readonly log: Logger;
}

export interface StartedIntake {
  readonly deadLetters: DeadLetters;
  /** Undefined where the log is direct: then it is called, and calls nobody. */
  readonly subscription: Subscription | undefined;
  /** What it is called by. */
  readonly services: readonly ServedService[];
}

/** From Kafka where KAFKA_BROKERS is set, else from the relay itself. */
export function startIntake({ config, db, brands, life, registry, log }: IntakeStart): StartedIntake {
  const metrics = intakeMetrics(registry);
  const intakeInto = (deadLetters: DeadLetters): Intake =>
    openIntake({ db, brands, deadLetters, keepDays: config.RETENTION_DAYS, metrics, log });
  if (config.KAFKA_BROKERS.length === 0) {
    // What is replayed comes the same way again.
    const deadLetters: DeadLetters = postgresDeadLetters(db, DEAD_LETTERS, (messages) => intake(messages));
    const intake = intakeInto(deadLetters);
    const services = [service(IntakeServiceService, intakeHandlers(intake))];
    return { deadLetters: oneReplayAtATime(deadLetters, config.DATABASE_URL), subscription: undefined, services };
  }
  const reader = life.own("event log reader", openKafkaReader(config, GROUP, log));
  const subscription = life.own("event log subscription", reader.subscribe(intakeInto(reader.deadLetters)));
  registry.registerMetric(lagOf(subscription));
  return { deadLetters: oneReplayAtATime(reader.deadLetters, config.DATABASE_URL), subscription, services: [] };
}

function lagOf(subscription: Subscription): Gauge {
  return new Gauge({
    name: "intake_lag_messages",
    help: "Messages in the log that were not taken in yet; -1 while the brokers cannot say.",
    registers: [],
    async collect() {
      this.set((await subscription.lag().catch(() => undefined)) ?? -1);
    },
  });
}
