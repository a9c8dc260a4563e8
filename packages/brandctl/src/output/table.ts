import type { Colors } from "../terminal.ts";
import { printable, widthOf } from "./printable.ts";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  /** Colours the cell without changing its width. */
  readonly paint?: (text: string, row: Row) => string;
  readonly align?: "right";
}

/** Lays rows out in aligned columns under a heading; returns `empty` without rows. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], colors: Colors, empty: string): string {
  if (rows.length === 0) return empty;
  const cells = rows.map((row) => columns.map(({ cell }) => printable(cell(row))));
  const widths = columns.map(({ title }, at) => Math.max(title.length, ...cells.map((line) => widthOf(line[at] ?? ""))));
  const line = (texts: readonly string[], paint: (text: string, at: number) => string): string =>
    texts
      .map((text, at) => {
        const space = " ".repeat((widths[at] ?? 0) - widthOf(text));
        if (columns[at]?.align === "right") return space + paint(text, at);
        return paint(text, at) + (at === columns.length - 1 ? "" : space);
      })
      .join("  ");
  const heading = line(
    columns.map(({ title }) => title),
    (text) => colors.dim(text),
  );
  const body = rows.map((row, number) => line(cells[number] ?? [], (text, at) => columns[at]?.paint?.(text, row) ?? text));
  return [heading, ...body].join("\n");
}

export type Fact = readonly [label: string, text: string, paint?: (text: string) => string];

/** Lays out facts, a line each, with their texts below each other. */
export function factLines(facts: readonly Fact[], { dim }: Colors): string[] {
  const width = Math.max(...facts.map(([label]) => label.length));
  return facts.map(([label, text, paint = String]) => `${dim(label.padEnd(width))}  ${paint(printable(text))}`);
}
