import type { WebhookResult } from "./measure.ts";
import { BACKLOG, HANGING, RATE_PER_SECOND, RATE_SECONDS, RATE_SECONDS_MAX, RECEIVERS, TARGETS } from "./settings.ts";

/** Formats the result for a terminal. */
export function report(result: WebhookResult): string {
  const whole = (n: number): string => Math.round(n).toLocaleString("en");
  const line = (name: string, value: string, target?: string): string =>
    `  ${name.padEnd(40)}${value.padStart(10)}${target === undefined ? "" : `   ${target}`}`;
  const atLeast = (value: number, target: number): string =>
    `target at least ${target.toLocaleString("en")}: ${value >= target ? "met" : "MISSED"}`;
  const atMost = (value: number, target: number): string => `target at most ${target}: ${value <= target ? "met" : "MISSED"}`;
  const [first = 0, ...others] = result.arrivals_with_backlog;
  return [
    line(
      "deliveries_per_second",
      whole(result.deliveries_per_second),
      atLeast(result.deliveries_per_second, TARGETS.deliveries_per_second),
    ),
    line("product_over_limit", result.product_over_limit.toFixed(2), `of ${whole(result.limit_per_second)} requests/s of undici alone`),
    line(
      "statements_per_delivery",
      result.statements_per_delivery.toFixed(2),
      atMost(result.statements_per_delivery, TARGETS.statements_per_delivery),
    ),
    line(
      `p99 change to arrival, ${RATE_PER_SECOND}/s`,
      `${whole(result.p99_ms)} ms`,
      `${atMost(result.p99_ms, TARGETS.p99_ms)}; median ${whole(result.p50_ms)} ms`,
    ),
    line(
      "healthy_p99_with_hanging_over_without",
      result.healthy_p99_with_hanging_over_without.toFixed(2),
      `${atMost(result.healthy_p99_with_hanging_over_without, TARGETS.healthy_p99_with_hanging_over_without)}; ${HANGING} of ${RECEIVERS} hang`,
    ),
    line(
      "others_p99_with_backlog_over_without",
      result.others_p99_with_backlog_over_without.toFixed(2),
      `one is ${BACKLOG.toLocaleString("en")} deliveries behind`,
    ),
    `    requests meanwhile: ${whole(first)} to the one with the backlog, ${Math.min(...others)} to ${Math.max(...others)} to each of the others`,
    `  CPU ms per delivery: ${Object.entries(result.cpu_ms_per_delivery)
      .map(([name, ms]) => `${name} ${ms.toFixed(2)}`)
      .join(", ")}`,
    ...Object.entries(result.seconds_at_rate)
      .filter(([, seconds]) => seconds > RATE_SECONDS_MAX)
      .map(
        ([phase, seconds]) =>
          `  NOT TO BE TRUSTED: ${phase}. Its ${RATE_SECONDS} s of changes took ${seconds.toFixed(1)} s: the disk or the CPU is busy`,
      ),
  ].join("\n");
}
