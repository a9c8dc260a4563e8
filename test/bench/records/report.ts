import { alignColumns } from "../harness/report.ts";
import type { BenchmarkResult } from "./benchmark.ts";
import { BRANDS, RECORDS } from "./dataset.ts";
import { CONNECTIONS, DEEP_PAGE, PAGE_LIMIT, ROUND_SECONDS } from "./settings.ts";
import type { Ratio, VariantSummary } from "./summary.ts";

/** Formats the result for a terminal. */
export function report({
  summary,
  deep_page: deep,
  product_seconds_to_first_answer: start,
  gateway_memory_mib: gateway,
  rounds,
  profiled,
}: BenchmarkResult): string {
  const { variants, ratios, foreign_cores: foreign, rounds_counted } = summary;
  const entries = Object.entries(variants);
  const lines = [
    `${RECORDS.toLocaleString("en")} conversions of ${BRANDS.toLocaleString("en")} brands, pages of ${PAGE_LIMIT}, ` +
      `${CONNECTIONS} connections, ${rounds_counted} of ${rounds.length} rounds of ${ROUND_SECONDS} s counted`,
    "",
    ...alignColumns([
      ["", "requests/s", "min", "max", "p50 ms", "p99 ms", "server CPU ms/request"],
      ...entries.map(([name, { requests_per_second: rate, p50_ms, p99_ms, cpu_ms_per_request: cpu }]) => [
        name,
        rate.median.toFixed(0),
        rate.min.toFixed(0),
        rate.max.toFixed(0),
        p50_ms.toFixed(1),
        p99_ms.toFixed(1),
        serverCpu(cpu).toFixed(3),
      ]),
    ]),
    "",
    "CPU ms per request",
    ...entries.map(([name, variant]) => byProcess(name, variant.cpu_ms_per_request, 3)),
    "",
    "Memory MiB",
    ...entries.map(([name, variant]) => byProcess(name, variant.memory_mib, 0)),
    "",
    ...alignColumns([["", "median", "min", "max", "target", ""], ...Object.entries(ratios).map(([name, ratio]) => ratioRow(name, ratio))]),
    "",
    `Page ${DEEP_PAGE} ${deep.deep_page_ms.toFixed(2)} ms, first page ${deep.first_page_ms.toFixed(2)} ms at the records service; ` +
      `Postgres reads ${deep.deep_page_blocks} and ${deep.first_page_blocks} blocks`,
    `A page of one link's conversions ${deep.filtered_page_ms.toFixed(2)} ms, ${deep.filtered_time_ratio.toFixed(2)} times the first page; ` +
      `Postgres reads ${deep.filtered_page_blocks} blocks`,
    `Gateway: ${gateway.start.toFixed(0)} MiB resident before the load, ${gateway.peak.toFixed(0)} at its peak, ${gateway.end.toFixed(0)} after it`,
    `Product: ${start.toFixed(2)} s from the start of the processes to the first response`,
  ];
  if (summary.disturbed) {
    lines.push("", `UNRELIABLE: other programs used ${foreign.median.toFixed(2)} cores meanwhile (at most ${foreign.max.toFixed(2)})`);
  }
  if (profiled) lines.push("", "NOT COMPARABLE: profiling makes everything slower");
  return lines.join("\n");
}

/** Sums all processes except the load generator. */
function serverCpu(cpu: VariantSummary["cpu_ms_per_request"]): number {
  return Object.entries(cpu).reduce((total, [name, ms]) => (name === "load" ? total : total + ms), 0);
}

function byProcess(variant: string, values: Readonly<Record<string, number>>, digits: number): string {
  const parts = Object.entries(values).map(([name, value]) => `${name} ${value.toFixed(digits)}`);
  return `  ${variant.padEnd(10)}${parts.join(" · ")}`;
}

function ratioRow(name: string, { median, min, max, target, met }: Ratio): string[] {
  const figures = [name, median.toFixed(2), min.toFixed(2), max.toFixed(2)];
  if (target.atLeast !== undefined) figures.push(`≥ ${target.atLeast.toFixed(2)}`);
  else if (target.atMost !== undefined) figures.push(`≤ ${target.atMost.toFixed(2)}`);
  else return figures;
  return [...figures, met ? "met" : "MISSED"];
}
