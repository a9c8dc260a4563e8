import type { Colors } from "../session.ts";
import { printable, widthOf } from "./printable.ts";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  /** How the cell is coloured; its width stays what it is without. */
  readonly paint?: (text: string, row: Row) => string;
  readonly align?: "right";
}

/** Rows in aligned columns under a heading; `empty` when there are none. */
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

/** `2026-11-21 08:30` for people, in UTC as everywhere; a dash when there is none. */
export function shortTime(time: string | null | undefined): string {
  return time == null ? "-" : `${time.slice(0, 10)} ${time.slice(11, 16)}`;
}

/** `2026-11-21 08:30:05`, where seconds matter. */
export function timeWithSeconds(time: string | null | undefined): string {
  return time == null ? "-" : `${time.slice(0, 10)} ${time.slice(11, 19)}`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
