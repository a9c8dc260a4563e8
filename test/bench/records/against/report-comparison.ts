import { alignColumns } from "../report.ts";
import { FOREIGN_CORES_MAX } from "../settings.ts";
import type { Comparison } from "./compare-builds.ts";

/** Formats the comparison for a terminal. */
export function reportComparison({ machine, folders, comparison, profiled }: Comparison): string {
  const { rounds, foreign_cores: foreign, figures } = comparison;
  const rows = Object.entries(figures).map(([name, { this: own, other, ratio }]) => [
    name,
    digits(own.median),
    digits(other.median),
    ...[ratio.median, ratio.min, ratio.max].map((value) => value.toFixed(3)),
  ]);
  const lines = [
    `${machine.date}  ${machine.cores} cores (${machine.cpu}), Node ${machine.node}, Postgres ${machine.postgres}`,
    `  this:  ${folders.this}`,
    `  other: ${folders.other}`,
    `Medians of ${rounds} rounds, CPU time per request`,
    "",
    ...alignColumns([["", "this", "other", "this/other", "min", "max"], ...rows]),
    "",
    `Other programs used ${foreign.median.toFixed(2)} cores meanwhile (at most ${foreign.max.toFixed(2)})`,
  ];
  if (foreign.median > FOREIGN_CORES_MAX) lines.push("", "UNRELIABLE: repeat it on a quiet machine");
  if (profiled) lines.push("", "NOT COMPARABLE: profiling makes everything slower");
  return lines.join("\n");
}

const digits = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(3));
