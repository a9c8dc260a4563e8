import type { Sql } from "@brand-records/postgres";
import { showSampled } from "@brand-records/service-runtime";
import { Counter, Gauge, type Registry } from "@brand-records/telemetry";
import { countWaiting, oldestSeconds } from "../storage/outbox.ts";

/** Counting more takes longer, and tells no more. */
const COUNTED_MAX = 10_000;

export interface RelayMetrics {
  readonly published: Counter;
  readonly failures: Counter;
  readonly leads: Gauge;
  /** Age of the oldest event as the gauge shows it, after this wait at most; undefined if it is not known. */
  oldestSeconds(waitMs: number): Promise<number | undefined>;
}

/** Every process shows the outbox, whether its relay leads or not. */
export function relayMetrics(registry: Registry, sql: Sql): RelayMetrics {
  const registers = [registry];
  const sampled = showSampled(registry, async () => ({ oldest: await oldestSeconds(sql), events: await countWaiting(sql, COUNTED_MAX) }), [
    {
      name: "outbox_oldest_seconds",
      help: "Age of the oldest event that is not in the log yet; 0 if there is none, -1 if the database does not respond.",
      of: ({ oldest }) => oldest,
    },
    {
      name: "outbox_events",
      help: "Events that are not in the log yet, counted up to 10,000; -1 if the database does not respond.",
      of: ({ events }) => events,
    },
  ]);
  return {
    oldestSeconds: async (waitMs) => (await sampled(waitMs))?.oldest,
    published: new Counter({ name: "outbox_published_total", help: "Events moved from the outbox to the log.", registers }),
    failures: new Counter({ name: "outbox_failures_total", help: "Attempts to move events to the log that failed.", registers }),
    leads: new Gauge({ name: "outbox_leads", help: "1 in the process that moves events, 0 in the others.", registers }),
  };
}
