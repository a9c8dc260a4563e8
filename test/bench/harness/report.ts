import type { BuildName } from "./programs.ts";
import { spreadOf, type Spread } from "./statistics.ts";

/** Aligns the first column left and the others right. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(...rows.map(({ length }) => length));
  const widths = Array.from({ length: columns }, (_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join("   ");
  return rows.map((cells) => `  ${line(cells)}`.trimEnd());
}

export interface ComparedFigure {
  readonly this: Spread;
  readonly other: Spread;
  /** This build's figure over the other's in the same round. */
  readonly ratio: Spread;
}

/** Compares two builds round by round, because both then met the same load on the machine. */
export function compareFigures<Name extends string, Measured>(
  figures: Readonly<Record<Name, (measured: Measured) => number>>,
  rounds: readonly Readonly<Record<BuildName, Measured>>[],
): Record<Name, ComparedFigure> {
  const entries = (Object.entries(figures) as [Name, (measured: Measured) => number][]).map(([name, read]) => {
    const pairs = rounds.map((round) => ({ own: read(round.this), other: read(round.other) }));
    const compared: ComparedFigure = {
      this: spreadOf(pairs.map(({ own }) => own)),
      other: spreadOf(pairs.map(({ other }) => other)),
      ratio: spreadOf(pairs.map(({ own, other }) => own / other)),
    };
    return [name, compared] as const;
  });
  return Object.fromEntries(entries) as Record<Name, ComparedFigure>;
}

export const folderLines = (folders: Readonly<Record<BuildName, string>>): string[] => [
  `  this:  ${folders.this}`,
  `  other: ${folders.other}`,
];

/** A line for each figure: the medians of both builds, and their ratio within a round. */
export function comparisonTable(figures: Readonly<Record<string, ComparedFigure>>): string[] {
  const rows = Object.entries(figures).map(([name, { this: own, other, ratio }]) => [
    name,
    digits(own.median),
    digits(other.median),
    ...[ratio.median, ratio.min, ratio.max].map((value) => value.toFixed(3)),
  ]);
  return alignColumns([["", "this", "other", "this/other", "min", "max"], ...rows]);
}

const digits = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(3));
