import type { ProcessName } from "../connection/admin-addresses.ts";

export interface Problem {
  readonly detail: string;
  readonly remedy: string;
}

const EVENT_LOG_REMEDY =
  "Is Kafka reachable (KAFKA_BROKERS), or without Kafka the webhook service? Events wait in the outbox; nothing is lost.";
const REDIS_REMEDY = "Is Redis reachable (REDIS_URL)? Until then each gateway counts a brand's requests on its own.";

const LOST_REMEDY = "Receivers get these events only if they are made again: docs/runbooks/EventsLost.md says how.";
/** Counts of what receivers may never get, by metric of webhook. */
const LOST = {
  intake_removed_messages: (events: number) => `Kafka has removed ${events} events that it has not stored yet`,
  intake_lost_messages_total: (events: number) => `since it started, ${events} events were lost: Kafka removed them before it stored them`,
  intake_log_restarts_total: (partitions: number) =>
    `since it started, ${partitions} partitions of the topic were made again: what they had held is lost`,
};

/** Keys are the names of dependencies in /readyz. */
const REMEDIES: Readonly<Record<string, string>> = {
  "event log": EVENT_LOG_REMEDY,
  redis: REDIS_REMEDY,
  "correct clock":
    "Its machine's clock differs by 5 s or more from the database's: set it right, and run NTP there (docs/runbooks/ClockOff.md). Deliveries and grants go by the database's.",
  postgres: "Is Postgres reachable (DATABASE_URL)?",
  "announcement of its keys":
    "Is Postgres reachable and writable (DATABASE_URL)? After 30 s others may store what this process cannot read.",
  process: "It is starting or stopping: try again in a few seconds.",
};

/** `key 2 of RECEIVER_SECRET_KEYS` */
const KEY = /^key \d+ of ([A-Z_]+)$/;

/** @param dependency as /readyz names it, under `degraded` or `waiting_for` */
export function remedyFor(dependency: string): string {
  const [, setting] = KEY.exec(dependency) ?? [];
  if (setting !== undefined)
    return `Something stored needs this key: put it into ${setting} (docs/runbooks/KeyUnusable.md). Nothing is lost.`;
  return REMEDIES[dependency] ?? "Its log says more.";
}

interface MetricRule {
  readonly process: ProcessName;
  readonly metric: string;
  /** What the metric is about, if `/readyz` names it too: then one of them is enough. */
  readonly dependency?: string;
  readonly isWrong: (value: number) => boolean;
  readonly detail: (value: number) => string;
  readonly remedy: string;
}

/** An event leaves the outbox within a fraction of a second; records reports its event log as unavailable after the same time. */
const OUTBOX_SECONDS_MAX = 15;

const RULES: readonly MetricRule[] = [
  {
    process: "records",
    metric: "outbox_oldest_seconds",
    isWrong: (seconds) => seconds > OUTBOX_SECONDS_MAX,
    detail: (seconds) => `the oldest event has waited for ${Math.round(seconds)} s in the outbox`,
    remedy: EVENT_LOG_REMEDY,
  },
  {
    process: "records",
    metric: "outbox_oldest_seconds",
    isWrong: (seconds) => seconds < 0,
    detail: () => "it cannot read from its database how long events wait",
    remedy: REMEDIES["postgres"] ?? "",
  },
  {
    process: "gateway",
    metric: "rate_limiter_redis_up",
    dependency: "redis",
    isWrong: (up) => up === 0,
    detail: () => "it works without Redis",
    remedy: REDIS_REMEDY,
  },
  {
    process: "webhook",
    metric: "intake_lag_messages",
    isWrong: (messages) => messages < 0,
    detail: () => "it cannot read from the brokers how many events wait",
    remedy: "Is Kafka reachable (KAFKA_BROKERS)? Events wait in the log; nothing is lost.",
  },
  ...Object.entries(LOST).map(
    ([metric, detail]) => ({ process: "webhook", metric, isWrong: (count: number) => count > 0, detail, remedy: LOST_REMEDY }) as const,
  ),
];

/**
 * Returns what is wrong according to the metrics. A missing metric, as in another release, is not a problem.
 *
 * @param degraded what `/readyz` names already
 */
export function problemsIn(process: ProcessName, metrics: Metrics, degraded: readonly string[] = []): Problem[] {
  const rules = RULES.filter((rule) => rule.process === process && !degraded.includes(rule.dependency ?? ""));
  return rules.flatMap(({ metric, isWrong, detail, remedy }) => {
    const value = metrics.value(metric);
    return value !== undefined && isWrong(value) ? [{ detail: detail(value), remedy }] : [];
  });
}

/** The part of a process's Prometheus metrics that doctor reads. */
export interface Metrics {
  /** The process, from the label `service`. */
  readonly service: string | undefined;
  /** The first sample with this name. */
  value(name: string): number | undefined;
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(\{[^}]*\})? (\S+)/;

export function readMetrics(text: string): Metrics {
  const samples = text.split("\n").flatMap((line) => {
    const [, name, labels = "", value] = SAMPLE.exec(line) ?? [];
    return name === undefined ? [] : [{ name, labels, value: Number(value) }];
  });
  const service = samples.map(({ labels }) => /[{,]service="([^"]*)"/.exec(labels)?.[1]).find((label) => label !== undefined);
  return { service, value: (name) => samples.find((sample) => sample.name === name)?.value };
}
