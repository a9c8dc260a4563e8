/**
 * How much a benchmark does: everything, or with BENCH_SIZE=tiny just enough to run every part within seconds. A test runs
 * tiny benchmarks to check that the commands work.
 */
const SIZES = ["full", "tiny"] as const;
type Size = (typeof SIZES)[number];

function readSize(value: string): Size {
  const size = SIZES.find((known) => known === value);
  if (size === undefined) throw new Error(`BENCH_SIZE is ${value}: it must be tiny or unset`);
  return size;
}

export const SIZE = readSize(process.env["BENCH_SIZE"] || "full");

/** Returns a setting for the current size. docs/benchmarks.md has figures of the full size. */
export const sized = <T>(full: T, tiny: T): T => (SIZE === "tiny" ? tiny : full);

/** Printed before and after the result; undefined if the figures are valid. */
export const SIZE_WARNING = sized(
  undefined,
  "NO MEASUREMENT: BENCH_SIZE=tiny only shows that the benchmark runs. Its figures mean nothing.",
);
