import type { Sql } from "@brand-records/postgres";
import { showSampled } from "@brand-records/service-runtime";
import { Counter, Gauge, type Registry } from "@brand-records/telemetry";
import { oldestSeconds, readWaiting } from "../storage/outbox.ts";
import type { HeldEvents } from "./held-events.ts";

/** Counting more takes longer, and tells no more. */
const COUNTED_MAX = 10_000;

export type RelayMetrics = ReturnType<typeof relayMetrics>;

/** Every process shows the outbox and what moves keep on the disk, whether its relay leads or not. */
export function relayMetrics(registry: Registry, sql: Sql) {
  const registers = [registry];
  const held = new Gauge({
    name: "outbox_held_events",
    help: "Events that the relay has read and the log does not take: their partition has no leader, or they or an earlier one of their record are too large. At 50,000 it reads no others.",
    registers,
  });
  const tooLarge = new Gauge({ name: "outbox_too_large_events", help: "Events that alone are larger than the topic takes.", registers });
  const sampled = showSampled(registry, async () => ({ oldest: await oldestSeconds(sql), ...(await readWaiting(sql, COUNTED_MAX)) }), [
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
    {
      name: "move_slot_retained_bytes",
      help: "Write-ahead log that the replication slot of a move out of this cell keeps, the largest; 0 if there is none, -1 if the database does not respond.",
      of: ({ retained_bytes }) => retained_bytes,
    },
  ]);
  return {
    /** Shows what the relay of this process holds. */
    show({ size, tooLarge: count }: Pick<HeldEvents, "size" | "tooLarge">): void {
      held.set(size);
      tooLarge.set(count);
    },
    /** Age of the oldest event as the gauge shows it, after this wait at most; undefined if it is not known. */
    oldestSeconds: async (waitMs: number): Promise<number | undefined> => (await sampled(waitMs))?.oldest,
    published: new Counter({ name: "outbox_published_total", help: "Events moved from the outbox to the log.", registers }),
    failures: new Counter({ name: "outbox_failures_total", help: "Attempts to move events to the log that failed.", registers }),
    leads: new Gauge({ name: "outbox_leads", help: "1 in the process that moves events, 0 in the others.", registers }),
  };
}
