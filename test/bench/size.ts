/**
 * How much a benchmark does: all of it, or with BENCH_SIZE=tiny just enough to run every part, in seconds and on a busy
 * machine. A test runs it so, to see that the command works.
 */
const SIZES = ["full", "tiny"] as const;
type Size = (typeof SIZES)[number];

function readSize(value: string): Size {
  const size = SIZES.find((known) => known === value);
  if (size === undefined) throw new Error(`BENCH_SIZE is ${value}: it must be tiny, or not be set`);
  return size;
}

export const SIZE = readSize(process.env["BENCH_SIZE"] || "full");

/** A setting in both sizes. The figures of docs/benchmarks.md are those of the full one. */
export const sized = <T>(full: T, tiny: T): T => (SIZE === "tiny" ? tiny : full);

/** To stand above and below what is printed; undefined if the figures count. */
export const SIZE_WARNING = sized(
  undefined,
  "NO MEASUREMENT: BENCH_SIZE=tiny only shows that the benchmark runs. Its figures mean nothing.",
);
