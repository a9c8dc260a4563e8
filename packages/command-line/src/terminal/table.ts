import type { ColorName, Colors } from "./colors.ts";
import { printable, shortened, widthOf, wrapped } from "./printable.ts";

/** What a terminal of usual width shows without breaking lines. */
export const TABLE_COLUMNS_MAX = 120;
const GAP = 2;
const DETAIL_INDENT = "  ";
/** What a line below a row may take. */
export const DETAIL_COLUMNS_MAX = TABLE_COLUMNS_MAX - DETAIL_INDENT.length;

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  readonly paint?: ColorName | ((row: Row) => ColorName | undefined);
  readonly align?: "right";
  /**
   * How narrow the column may become if the table is too wide; its cells are then cut, with `…`. Only for what the `show` command
   * has in full. Default: never cut.
   */
  readonly cutTo?: number;
  /** Breaks long cells of the last column into lines of their own, below each other. */
  readonly wraps?: boolean;
}

export interface Detail {
  readonly text: string;
  readonly paint?: ColorName;
}

/**
 * Lays rows out in aligned columns under a heading; returns `empty` without rows.
 *
 * @param details lines below a row, cut to DETAIL_COLUMNS_MAX
 * @param columnsMax Infinity cuts and wraps no cell
 */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  colors: Colors,
  empty: string,
  details: (row: Row) => readonly Detail[] = () => [],
  columnsMax = TABLE_COLUMNS_MAX,
): string {
  if (rows.length === 0) return empty;
  const cells = rows.map((row) => columns.map(({ cell }) => printable(cell(row))));
  const widths = fitted(columns, widthsOf(columns, cells), columnsMax);
  const line = (texts: readonly string[], paint: (text: string, at: number) => string): string =>
    texts
      .map((text, at) => {
        const space = " ".repeat(Math.max(0, (widths[at] ?? 0) - widthOf(text)));
        if (columns[at]?.align === "right") return space + paint(text, at);
        return paint(text, at) + (at === columns.length - 1 ? "" : space);
      })
      .join(" ".repeat(GAP));
  const heading = line(
    columns.map(({ title }) => title),
    colors.dim,
  );
  const painted = (text: string, at: number, row: Row): string => {
    const paint = columns[at]?.paint;
    return paintedIn(colors, typeof paint === "function" ? paint(row) : paint, text);
  };
  const body = rows.flatMap((row, number) => [
    ...linesOf(columns, cells[number] ?? [], widths).map((texts) => line(texts, (text, at) => painted(text, at, row))),
    ...details(row).map(({ text, paint }) => DETAIL_INDENT + paintedIn(colors, paint, shortened(printable(text), DETAIL_COLUMNS_MAX))),
  ]);
  return [heading, ...body].join("\n");
}

const paintedIn = (colors: Colors, paint: ColorName | undefined, text: string): string =>
  paint === undefined ? text : colors[paint](text);

function widthsOf(columns: readonly Column<never>[], cells: readonly (readonly string[])[]): number[] {
  return columns.map(({ title }, at) => Math.max(title.length, ...cells.map((line) => widthOf(line[at] ?? ""))));
}

/** Narrows the columns that may be cut, the one with most to spare first, until the table fits or none is left. */
function fitted(columns: readonly Column<never>[], widths: readonly number[], columnsMax: number): number[] {
  const fit = [...widths];
  const spare = columns.map(({ title, cutTo, wraps }, at) => {
    const least = wraps === true ? title.length : Math.max(cutTo ?? Infinity, title.length);
    return Math.max(0, (fit[at] ?? 0) - least);
  });
  let excess = fit.reduce((sum, width) => sum + width, GAP * (columns.length - 1)) - columnsMax;
  for (; excess > 0; excess -= 1) {
    const most = Math.max(...spare);
    if (most === 0) break;
    const at = spare.indexOf(most);
    fit[at] = (fit[at] ?? 0) - 1;
    spare[at] = most - 1;
  }
  return fit;
}

/** Returns the lines of a row: one, or more if the last column wraps. */
function linesOf(columns: readonly Column<never>[], cells: readonly string[], widths: readonly number[]): string[][] {
  const cut = cells.map((text, at) => (columns[at]?.cutTo === undefined ? text : shortened(text, widths[at] ?? 0)));
  if (columns.at(-1)?.wraps !== true) return [cut];
  const [first = "", ...more] = wrapped(cut.at(-1) ?? "", widths.at(-1) ?? 0);
  const others = cut.slice(0, -1);
  return [[...others, first], ...more.map((text) => [...others.map(() => ""), text])];
}

export type Fact = readonly [label: string, text: string, paint?: ColorName | undefined];

/** Lays out facts, a line each, with their texts below each other. */
export function factsText(facts: readonly Fact[], colors: Colors): string {
  const width = Math.max(...facts.map(([label]) => label.length));
  return facts.map(([label, text, paint]) => `${colors.dim(label.padEnd(width))}  ${paintedIn(colors, paint, printable(text))}`).join("\n");
}
