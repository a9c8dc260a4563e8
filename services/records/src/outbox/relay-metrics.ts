import { Counter, Gauge, type Registry } from "@brand-records/telemetry";

export interface RelayMetrics {
  readonly published: Counter;
  readonly failures: Counter;
  readonly leads: Gauge;
}

/**
 * @param oldestSeconds returns the age of the oldest event in the outbox, 0 if it is empty; called at every scrape, in every process
 */
export function relayMetrics(registry: Registry, oldestSeconds: () => Promise<number>): RelayMetrics {
  const registers = [registry];
  const oldest = new Gauge({
    name: "outbox_oldest_seconds",
    help: "Age of the oldest event that is not in the log yet; 0 if there is none, -1 if the database does not respond.",
    registers: [],
    async collect() {
      this.set(await oldestSeconds().catch(() => -1));
    },
  });
  registry.registerMetric(oldest);
  return {
    published: new Counter({ name: "outbox_published_total", help: "Events moved from the outbox to the log.", registers }),
    failures: new Counter({ name: "outbox_failures_total", help: "Attempts to move events to the log that failed.", registers }),
    leads: new Gauge({ name: "outbox_leads", help: "1 in the process that moves events, 0 in the others.", registers }),
  };
}
