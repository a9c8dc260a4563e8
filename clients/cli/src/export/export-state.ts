import { open, readFile, rename, rm } from "node:fs/promises";
import { CommandFailure, errorCode, printable } from "@brand-records/command-line";

/** Mode of the files: records and filters may have texts that are not for every user of the machine. */
export const EXPORT_MODE = 0o600;

export type ExportFormat = "csv" | "ndjson";

/** What is exported. An export that was interrupted continues only with the same. */
export interface ExportRequest {
  readonly url: string;
  readonly resource: string;
  readonly filters: Readonly<Record<string, unknown>>;
  readonly format: ExportFormat;
  /** The choices of CSV, if they were made. */
  readonly raw?: true | undefined;
  readonly bom?: true | undefined;
}

/** How far an export got: the content of `FILE.state`. */
export interface ExportState extends ExportRequest {
  readonly version: 1;
  /** Undefined before the first page. */
  readonly brand_id?: string | undefined;
  readonly started_at: string;
  /** Where the next page starts. Undefined before the first and after the last. */
  readonly cursor?: string | undefined;
  /** The columns of a CSV file. */
  readonly columns?: readonly string[] | undefined;
  /** Bytes of `FILE.part` that are complete pages. */
  readonly bytes: number;
  readonly records: number;
  /** Every page is in `FILE.part`. */
  readonly complete: boolean;
}

export const statePath = (out: string): string => `${out}.state`;

export const newState = (request: ExportRequest): ExportState => ({
  version: 1,
  ...request,
  started_at: new Date().toISOString(),
  bytes: 0,
  records: 0,
  complete: false,
});

/** Returns undefined if there is none. @throws CommandFailure `foreign_state` if the file is none */
export async function readState(out: string): Promise<ExportState | undefined> {
  const path = statePath(out);
  try {
    const value = JSON.parse(await readFile(path, "utf8")) as Partial<ExportState> | null;
    if (value?.version === 1 && Number.isSafeInteger(value.bytes) && Number.isSafeInteger(value.records)) return value as ExportState;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    if (!(error instanceof SyntaxError)) throw error;
  }
  const hint = "If it is yours, choose another --out. If not, --restart exports from the beginning.";
  throw new CommandFailure("foreign_state", `${printable(path)} is not the state of an export that this version can continue.`, { hint });
}

/** Replaces the state as a whole: a kill leaves the state before or this one. */
export async function writeState(out: string, state: ExportState): Promise<void> {
  const path = statePath(out);
  const file = await open(`${path}.new`, "w", EXPORT_MODE);
  try {
    await file.writeFile(`${JSON.stringify(state)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}

export const deleteState = (out: string): Promise<void> => rm(statePath(out), { force: true });

/** @throws CommandFailure `other_export` if the state is of another export */
export function requireSame(out: string, state: ExportState, request: ExportRequest): void {
  const of = ({ url, resource, filters, format, raw, bom }: ExportRequest): string =>
    JSON.stringify([url, resource, filters, format, raw, bom]);
  if (of(state) === of(request)) return;
  const hint = "Run the same command as then, choose another --out, or add --restart to export from the beginning.";
  const message = `${printable(out)} was begun with other arguments: ${state.resource} as ${formatText(state)}, ${filtersText(state)}, from ${state.url}.`;
  throw new CommandFailure("other_export", message, { hint });
}

const formatText = ({ format, raw, bom }: ExportRequest): string =>
  [format, ...(raw ? ["--raw"] : []), ...(bom ? ["--bom"] : [])].join(" ");

function filtersText({ filters }: ExportRequest): string {
  const given = Object.entries(filters).map(([name, value]) => `${name} ${String(value)}`);
  return given.length === 0 ? "without filters" : printable(given.join(", "));
}
