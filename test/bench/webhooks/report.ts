import type { Ratio, Spread } from "../harness/statistics.ts";
import type { WebhookResult } from "./measure.ts";
import type { Usage } from "./product.ts";
import {
  BACKLOG,
  BEHIND,
  DUMP_RATE_PER_SECOND,
  DUMP_SECONDS,
  HANGING,
  RATE_PER_SECOND,
  RECEIVERS,
  SNAPSHOT_SECONDS,
  TARGETS,
} from "./settings.ts";

/** Formats the result for a terminal. */
export function report(result: WebhookResult): string {
  const { ratios } = result;
  return [
    ...burstLines(result),
    line(
      `p99 change to arrival, ${RATE_PER_SECOND}/s`,
      `${whole(result.p99_ms)} ms`,
      `${atMost(result.p99_ms, TARGETS.p99_ms)}; median ${whole(result.p50_ms)} ms`,
    ),
    ratioLine("healthy_p99_with_hanging_over_without", ratios.healthy_p99_with_hanging_over_without, `${HANGING} of ${RECEIVERS} hang`),
    ratioLine(
      "others_p99_with_backlog_over_without",
      ratios.others_p99_with_backlog_over_without,
      `one is ${BACKLOG.toLocaleString("en")} deliveries behind`,
    ),
    ...backlogLines(result),
    ratioLine(
      "p99_with_deleted_backlog_over_without",
      ratios.p99_with_deleted_backlog_over_without,
      `the backlog deleted under a snapshot of ${SNAPSHOT_SECONDS} s`,
    ),
    ratioLine(
      "p99_with_dump_over_without",
      ratios.p99_with_dump_over_without,
      `a snapshot of ${DUMP_SECONDS} s; both at ${DUMP_RATE_PER_SECOND}/s`,
    ),
    `  longest claim, ms: ${Object.entries(result.longest_claim_ms)
      .map(([phase, ms]) => `${phase} ${ms.toFixed(1)}`)
      .join(", ")}`,
    `  ${usageLine(result.cpu_ms_per_delivery)}`,
    ...repeatedLines(result.repeated),
    ...doubtLines(result.not_to_be_trusted),
  ].join("\n");
}

function burstLines(result: WebhookResult): string[] {
  const { deliveries_per_second: rate, statements_per_delivery: statements } = result;
  return [
    line("deliveries_per_second", whole(rate), atLeast(rate, TARGETS.deliveries_per_second)),
    ratioLine(
      "product_over_limit",
      result.ratios.product_over_limit,
      `${atLeast(result.ratios.product_over_limit.median, TARGETS.product_over_limit)}; of ${whole(result.limit_per_second)} requests/s of undici alone`,
    ),
    line("statements_per_delivery", statements.toFixed(2), atMost(statements, TARGETS.statements_per_delivery)),
    line(
      "wal_bytes_per_delivery",
      whole(result.wal_bytes_per_delivery),
      `${result.wal_full_pages_per_delivery.toFixed(2)} full pages among it; the vacuum after it ${whole(result.vacuum_wal_bytes_per_delivery)}`,
    ),
  ];
}

function backlogLines({ backlog_per_second: { beside, alone }, steady_rounds: rounds }: WebhookResult): string[] {
  const others = rounds.flatMap(({ backlog }) => backlog.arrived.toSpliced(BEHIND, 1));
  const rateLine = (name: string, { median, min, max }: Spread, text: string): string =>
    line(name, whole(median), `(${whole(min)} to ${whole(max)}) ${text}`);
  return [
    rateLine("backlog_per_second, beside", beside, atLeast(beside.median, TARGETS.backlog_per_second)),
    rateLine("backlog_per_second, alone", alone, "without other events"),
    `    requests meanwhile: ${Math.min(...others)} to ${Math.max(...others)} to each of the others`,
  ];
}

export const repeatedLines = (repeated: readonly string[]): string[] => repeated.map((reason) => `  repeated: ${reason}`);

export const doubtLines = (doubts: readonly string[]): string[] => doubts.map((doubt) => `  NOT TO BE TRUSTED: ${doubt}`);

export const usageLine = (usage: Usage): string =>
  `CPU ms per delivery: ${Object.entries(usage)
    .map(([name, ms]) => `${name} ${ms.toFixed(3)}`)
    .join(", ")}`;

function ratioLine(name: string, { median, min, max, at_most }: Ratio, text: string): string {
  const target = at_most === undefined ? "" : `${atMost(median, at_most)}; `;
  return line(name, median.toFixed(2), `(${min.toFixed(2)} to ${max.toFixed(2)}) ${target}${text}`);
}

const whole = (n: number): string => Math.round(n).toLocaleString("en");

const line = (name: string, value: string, text: string): string => `  ${name.padEnd(40)}${value.padStart(10)}   ${text}`;

const atLeast = (value: number, target: number): string =>
  `target at least ${target.toLocaleString("en")}: ${value >= target ? "met" : "MISSED"}`;

const atMost = (value: number, target: number): string => `target at most ${target}: ${value <= target ? "met" : "MISSED"}`;
