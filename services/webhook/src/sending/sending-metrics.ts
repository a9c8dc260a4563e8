import { Counter, Histogram, SECONDS_BUCKETS, type Registry } from "@brand-records/telemetry";

export interface SendingMetrics {
  readonly attempts: Counter<"outcome">;
  readonly duration: Histogram;
}

export function sendingMetrics(registry: Registry): SendingMetrics {
  const registers = [registry];
  return {
    attempts: new Counter({
      name: "delivery_attempts_total",
      help: "Finished attempts, by outcome.",
      labelNames: ["outcome"],
      registers,
    }),
    duration: new Histogram({
      name: "delivery_attempt_duration_seconds",
      help: "Time from the request to the end of the response.",
      buckets: [...SECONDS_BUCKETS, 20],
      registers,
    }),
  };
}
