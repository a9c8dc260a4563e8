import { alignColumns } from "../records/report.ts";
import type { Comparison } from "./compare-builds.ts";
import { doubtLines, usageLine } from "./report.ts";

/** Formats the comparison for a terminal. */
export function reportComparison({ folders, ratios, medians, cpu_ms_per_delivery: cpu, not_to_be_trusted }: Comparison): string {
  const rows = (Object.keys(ratios) as (keyof typeof ratios)[]).map((name) => {
    const { median, min, max } = ratios[name];
    return [name, digits(medians.this[name]), digits(medians.other[name]), median.toFixed(3), min.toFixed(3), max.toFixed(3)];
  });
  return [
    `  this:  ${folders.this}`,
    `  other: ${folders.other}`,
    "",
    ...alignColumns([["", "this", "other", "this/other", "min", "max"], ...rows]),
    "",
    `  this:  ${usageLine(cpu.this)}`,
    `  other: ${usageLine(cpu.other)}`,
    ...doubtLines(not_to_be_trusted),
  ].join("\n");
}

const digits = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(3));
