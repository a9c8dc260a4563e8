import { stringify } from "csv-stringify/sync";
import type { ExportFormat } from "./export-state.ts";

type Row = Readonly<Record<string, unknown>>;

export interface FormatOptions {
  readonly format: ExportFormat;
  readonly columns: readonly string[];
  /** Begin with the names of the columns. */
  readonly header: boolean;
}

/**
 * Returns the records as text, in NDJSON as the service sent them. In CSV, a cell that a spreadsheet would run as a formula begins with `'`:
 * outsiders write titles and URLs.
 */
export function formatRecords(records: readonly object[], { format, columns, header }: FormatOptions): string {
  if (format === "ndjson") return records.map((record) => `${JSON.stringify(record)}\n`).join("");
  const cast = { boolean: (value: boolean): string => String(value) };
  return stringify(records as Row[], { columns: [...columns], header, escape_formulas: true, cast });
}
