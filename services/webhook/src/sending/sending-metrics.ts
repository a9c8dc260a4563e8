import { AGE_SECONDS_BUCKETS, Counter, Histogram, SECONDS_BUCKETS, startAtZero, type Registry } from "@brand-records/telemetry";
import { OUTCOME_KINDS } from "../domain/outcome.ts";

export type SendingMetrics = ReturnType<typeof sendingMetrics>;

export function sendingMetrics(registry: Registry) {
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]): Counter => new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, buckets: number[], help: string): Histogram => new Histogram({ name, help, buckets, registers });
  const metrics = {
    attempts: counter("delivery_attempts_total", "Finished attempts, by outcome.", "outcome"),
    duration: histogram("delivery_attempt_duration_seconds", [...SECONDS_BUCKETS, 20], "Time from the request to the end of the response."),
    delay: histogram(
      "delivery_delay_seconds",
      AGE_SECONDS_BUCKETS,
      "Time from an event to its first attempt, at receivers whose last attempt succeeded. Replays are not measured.",
    ),
    slowClaims: counter(
      "claims_given_up_total",
      "Claims of deliveries that were given up after 200 ms and tried again with fewer receivers.",
    ),
    finished: counter(
      "deliveries_finished_total",
      "Deliveries that ended: delivered, failed (no attempt is left), or removed (receiver, brand or event is no longer stored).",
      "state",
    ),
    disabled: counter(
      "receivers_disabled_total",
      "Receivers that were disabled, by reason. Those of a deleted brand are not counted.",
      "reason",
    ),
  };
  startAtZero(metrics.attempts, "outcome", OUTCOME_KINDS);
  startAtZero(metrics.finished, "state", ["delivered", "failed", "removed"]);
  startAtZero(metrics.disabled, "reason", ["member", "gone", "failing"]);
  return metrics;
}
