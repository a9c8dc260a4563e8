import type { ResourceName } from "@brand-records/client";
import {
  counted,
  declared,
  flag,
  mandatory,
  openProgressBar,
  option,
  printable,
  UsageFailure,
  type Values,
} from "@brand-records/command-line";
import { Option } from "commander";
import type { Source } from "../export/export-records.ts";
import type { ExportFormat, ExportRequest } from "../export/export-state.ts";
import { FILTER_OPTIONS, filtersFrom, resourceArgument } from "../input/filter-options.ts";
import { command, type Session } from "../session.ts";
import { openClient, readAccess } from "../settings.ts";

const DESCRIPTION = `Write every record of a resource into a file, newest first, each once.

The file appears when it is complete. Until then FILE.part has what was read, and FILE.state how far it got: after Ctrl-C, a kill or a cut, the same command continues. It waits out the brand's limit.`;

/** Milliseconds for a page, with waits for the limit and for a service that is away. */
const DEADLINE_MS = 600_000;

const HELP = `
NDJSON has each record on a line, as the service sends it. CSV has the fields of
the first record as columns; a cell that a spreadsheet would run as a formula
begins with an apostrophe, unless --raw is given.

Examples:
  brand-records export conversions --format ndjson --out conversions.ndjson
  brand-records export submissions --status approved --format csv \\
    --out approved.csv --replace
`;

const OPTIONS = {
  format: declared<ExportFormat>(new Option("--format <format>", "of the file").choices(["ndjson", "csv"]).makeOptionMandatory()),
  out: mandatory(option("--out <file>", "the file; - for standard output, which cannot continue")),
  bom: flag("--bom", "begin a CSV file with a byte order mark, by which Excel knows UTF-8"),
  raw: flag("--raw", "CSV without the apostrophe before formulas: for programs, not for spreadsheets"),
  replace: flag("--replace", "replace the file if it exists, when the export is complete"),
  restart: flag("--restart", "begin again where an earlier export was interrupted"),
  ...FILTER_OPTIONS,
};

export const exportCommand = command("export", {
  summary: "write every record into a file",
  description: DESCRIPTION,
  arguments: [resourceArgument()],
  options: OPTIONS,
  help: HELP,
  run: exportRecords,
});

async function exportRecords(session: Session, options: Values<typeof OPTIONS>, resource: ResourceName): Promise<void> {
  // Refuses a missing key before anything is opened.
  const { url } = readAccess(session.terminal.env);
  const filters = filtersFrom(options);
  const { format, out } = options;
  const [raw, bom] = [options.raw || undefined, options.bom || undefined];
  if (format !== "csv" && (raw ?? bom)) throw new UsageFailure("--bom and --raw are for --format csv");
  const openSource = (brandId?: string): Source => ({
    client: openClient(session, { expectBrand: brandId, deadlineMs: DEADLINE_MS }),
    resource,
    filters,
    format,
    raw,
    bom,
    signal: session.terminal.interrupted,
  });
  if (out === "-") return exportToOutput(session, openSource());
  return exportToNamed(session, { url, resource, filters: { ...filters }, format, raw, bom }, options, openSource);
}

async function exportToOutput(session: Session, source: Source): Promise<void> {
  if (session.json) throw new UsageFailure("--json and --out - would both write to standard output", "Leave out --json, or name a file.");
  const { exportToStream } = await import("../export/export-records.ts");
  const records = await exportToStream(source, session.terminal.stdout);
  session.note(({ dim }) => dim(`${counted(records, "record")} written.`));
}

async function exportToNamed(
  session: Session,
  request: ExportRequest,
  { out, replace = false, restart = false }: Values<typeof OPTIONS>,
  openSource: (brandId: string | undefined) => Source,
): Promise<void> {
  const { exportToFile } = await import("../export/export-records.ts");
  const { openExportFile, requireFileName } = await import("../export/export-file.ts");
  const { resource, format } = request;
  await requireFileName(out);
  const file = await openExportFile(out, request, { replace, restart });
  const { started_at, records: before, brand_id } = file.state;
  if (before > 0) session.note(({ dim }) => dim(`Continuing the export of ${started_at}, after ${counted(before, "record")}.`));
  const bar = openProgressBar(session, resource, undefined, { unit: "records", atEnd: "" });
  try {
    const records = await exportToFile(openSource(brand_id), { out, file, bar });
    bar.stop();
    const document = { resource, format, out, records, started_at, continued_after: before };
    session.print(document, ({ green }) => `${green("Complete:")} ${counted(records, "record")} of ${resource} in ${printable(out)}`);
  } finally {
    bar.stop();
    await file.close();
  }
}
