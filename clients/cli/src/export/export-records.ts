import { type BrandRecords, type FiltersOf, type Page, type ResourceName } from "@brand-records/client";
import { counted, printable, writeToReader, type ProgressBar, type Screen } from "@brand-records/command-line";
import { stringify } from "csv-stringify/sync";
import { withNextStep } from "../failure.ts";
import { partPath, type ExportFile } from "./export-file.ts";
import type { ExportRequest, ExportState } from "./export-state.ts";

export interface Source extends Pick<ExportRequest, "format" | "raw" | "bom"> {
  readonly client: BrandRecords;
  readonly resource: ResourceName;
  readonly filters: FiltersOf[ResourceName];
  readonly signal: AbortSignal;
}

export interface FileTarget {
  readonly out: string;
  readonly file: ExportFile;
  readonly bar: ProgressBar;
}

/**
 * Writes every record that existed when the export began into the file, each once, also if it is interrupted and continued. Holds one page
 * in memory.
 *
 * @returns how many there are
 * @throws CommandFailure or Interrupted, which says how far it got and how to go on
 */
export async function exportToFile(source: Source, { out, file, bar }: FileTarget): Promise<number> {
  const { client, resource, filters, signal } = source;
  let { state } = file;
  bar.update(0, state.records);
  try {
    const pages = state.complete ? [] : client.list(resource, filters, { cursor: state.cursor, signal }).pages();
    for await (const page of pages) {
      // A page that was read is kept whole; what comes after it is not begun.
      const columns = state.columns ?? (await columnsOf(source, page));
      const text = formatRecords(page.data, { ...source, columns, header: state.columns === undefined });
      await file.append(text, (bytes) => (state = after(state, page, { bytes, columns })));
      bar.update(0, state.records);
      signal.throwIfAborted();
    }
    await file.finish();
    return state.records;
  } catch (error) {
    throw withNextStep(error, signal, keptText(out, state), "Add --restart to export from the beginning.");
  }
}

/** Writes every record to a screen or pipe. @returns how many; fewer if the reader stopped */
export async function exportToStream(source: Source, stream: Screen): Promise<number> {
  const { client, resource, filters, signal } = source;
  let records = 0;
  let columns: readonly string[] | undefined;
  for await (const page of client.list(resource, filters, { signal }).pages()) {
    const header = columns === undefined;
    columns ??= await columnsOf(source, page);
    if (!(await writeToReader(stream, formatRecords(page.data, { ...source, columns, header }), signal))) return records;
    records += page.data.length;
  }
  return records;
}

function after(state: ExportState, page: Page<object>, written: { bytes: number; columns: readonly string[] }): ExportState {
  const { nextCursor: cursor, meta, data } = page;
  // Marked with the last page: a state without a cursor would otherwise look as if no page was read yet.
  return { ...state, ...written, brand_id: meta.brandId, cursor, records: state.records + data.length, complete: cursor === undefined };
}

/** The fields of the first record; without one, those that this version knows. */
async function columnsOf({ resource, format }: Source, { data: [first] }: Page<object>): Promise<readonly string[]> {
  if (format === "ndjson") return [];
  if (first !== undefined) return Object.keys(first);
  const { RESOURCES } = await import("@brand-records/resources");
  return Object.keys(RESOURCES[resource].schema.shape);
}

const keptText = (out: string, { records }: ExportState): string =>
  records === 0
    ? "No record was read yet. Run the same command again."
    : `${counted(records, "record")} ${records === 1 ? "is" : "are"} in ${printable(partPath(out))}. The same command continues.`;

type Row = Readonly<Record<string, unknown>>;

export interface FormatOptions extends Pick<ExportRequest, "format" | "raw" | "bom"> {
  readonly columns: readonly string[];
  /** Begin with the names of the columns, after the byte order mark if there is one. */
  readonly header: boolean;
}

/**
 * Returns the records as text, in NDJSON as the service sent them. In CSV that is not `raw`, a cell that a spreadsheet would run as a formula
 * begins with `'`: outsiders write titles and URLs.
 */
export function formatRecords(records: readonly object[], { format, columns, header, raw, bom }: FormatOptions): string {
  if (format === "ndjson") return records.map((record) => `${JSON.stringify(record)}\n`).join("");
  const cast = { boolean: (value: boolean): string => String(value) };
  return stringify(records as Row[], { columns: [...columns], header, escape_formulas: raw !== true, bom: header && bom === true, cast });
}
