import { Counter, Gauge, type Registry } from "@brand-records/telemetry";

export interface RelayMetrics {
  readonly published: Counter;
  readonly failures: Counter;
  readonly leads: Gauge;
  readonly oldest: Gauge;
}

export function relayMetrics(registry: Registry): RelayMetrics {
  const registers = [registry];
  return {
    published: new Counter({ name: "outbox_published_total", help: "Events moved from the outbox to the log.", registers }),
    failures: new Counter({ name: "outbox_failures_total", help: "Attempts to move events to the log that failed.", registers }),
    oldest: new Gauge({
      name: "outbox_oldest_seconds",
      help: "Age of the oldest event that is not in the log yet; 0 if there is none.",
      registers,
    }),
    leads: new Gauge({ name: "outbox_leads", help: "1 in the process that moves events, 0 in the others.", registers }),
  };
}
