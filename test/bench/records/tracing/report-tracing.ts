import type { MedianInterval } from "../../statistics.ts";
import { alignColumns } from "../report.ts";
import { FOREIGN_CORES_MAX } from "../settings.ts";
import type { TracingResult } from "./run-tracing.ts";
import type { TracedSummary, TracingCost } from "./summarise-tracing.ts";

/** Formats the result for a terminal. */
export function reportTracing({ machine, tracing, spans, profiled }: TracingResult): string {
  const { pairs, foreign_cores: foreign, variants } = tracing;
  const lines = [
    `${machine.date}  ${machine.cores} cores (${machine.cpu}), Node ${machine.node}, Postgres ${machine.postgres}`,
    `CPU ms per request, and its ratio to the same round without tracing: median (interval) of ${pairs} pairs`,
  ];
  for (const [name, summary] of Object.entries(variants)) {
    lines.push("", `${name}: ${(spans[name as keyof typeof variants] ?? 0).toLocaleString("en")} spans received`, ...variantTable(summary));
  }
  lines.push(
    "",
    `Other programs used ${foreign.median.toFixed(2)} cores meanwhile (${foreign.low.toFixed(2)} to ${foreign.high.toFixed(2)})`,
  );
  if (foreign.median > FOREIGN_CORES_MAX) lines.push("", "UNRELIABLE: repeat it on a quiet machine");
  if (profiled) lines.push("", "NOT COMPARABLE: profiling makes everything slower");
  return lines.join("\n");
}

function variantTable({ product, processes, requests_per_second_ratio: rate, target, met }: TracedSummary): string[] {
  const cells = ({ cpu_ms, ratio }: TracingCost): string[] => [
    intervalOf(cpu_ms, (ms) => ms.toFixed(3)),
    ...(target === undefined ? [] : [intervalOf(ratio, percent)]),
  ];
  return alignColumns([
    ["product", ...cells(product), ...(target === undefined ? [] : [`≤ ${percent(target)}`, met ? "met" : "MISSED"])],
    ...Object.entries(processes).map(([name, cost]) => [name, ...cells(cost)]),
    ...(target === undefined ? [] : [["requests/s", "", intervalOf(rate, percent)]]),
  ]);
}

const intervalOf = ({ median, low, high }: MedianInterval, format: (value: number) => string): string =>
  `${format(median)} (${format(low)} to ${format(high)})`;

/** The ratio 1.03 is +3.0%. */
const percent = (ratio: number): string =>
  Number.isNaN(ratio) ? "–" : `${ratio < 1 ? "−" : "+"}${Math.abs((ratio - 1) * 100).toFixed(1)}%`;
