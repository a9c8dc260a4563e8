import { AGE_SECONDS_BUCKETS, Counter, Histogram, SECONDS_BUCKETS, startAtZero, type Registry } from "@brand-records/telemetry";
import { OUTCOME_KINDS } from "../domain/outcome.ts";

export type SendingMetrics = ReturnType<typeof sendingMetrics>;

export function sendingMetrics(registry: Registry) {
  const registers = [registry];
  const metrics = {
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
    delay: new Histogram({
      name: "delivery_delay_seconds",
      help: "Time from an event to its first attempt, at receivers whose last attempt succeeded. Replays are not measured.",
      buckets: AGE_SECONDS_BUCKETS,
      registers,
    }),
    slowClaims: new Counter({
      name: "claims_given_up_total",
      help: "Claims of deliveries that were given up after 200 ms and tried again with fewer receivers.",
      registers,
    }),
    finished: new Counter({
      name: "deliveries_finished_total",
      help: "Deliveries that ended: delivered, failed (no attempt is left), or removed (receiver, brand or event is no longer stored).",
      labelNames: ["state"],
      registers,
    }),
    disabled: new Counter({
      name: "receivers_disabled_total",
      help: "Receivers that were disabled, by reason. Those of a deleted brand are not counted.",
      labelNames: ["reason"],
      registers,
    }),
  };
  startAtZero(metrics.attempts, "outcome", OUTCOME_KINDS);
  startAtZero(metrics.finished, "state", ["delivered", "failed", "removed"]);
  startAtZero(metrics.disabled, "reason", ["member", "gone", "failing"]);
  return metrics;
}
