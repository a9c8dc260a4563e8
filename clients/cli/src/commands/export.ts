import type { ResourceName } from "@brand-records/client";
import { counted, openProgressBar, printable } from "@brand-records/terminal-output";
import { Command, Option } from "commander";
import { UsageFailure } from "../failure.ts";
import { addFilterOptions, filtersFrom, resourceArgument, type FilterOptions } from "../input/filter-options.ts";
import type { Session } from "../session.ts";
import { openClient, readAccess } from "../settings.ts";
import type { Shell } from "../shell.ts";
import type { ExportFormat } from "../export/export-state.ts";

const DESCRIPTION = `Write every record of a resource into a file, newest first, each once.

The file appears when it is complete. Until then FILE.part has what was read, and FILE.state how far it got: after Ctrl-C, a kill or a cut, the same command continues. It waits out the brand's limit.`;

/** Milliseconds for a page, with waits for the limit and for a service that is away. */
const DEADLINE_MS = 600_000;

const HELP = `
NDJSON has each record on a line, as the service sends it. CSV has the fields of
the first record as columns; a cell that a spreadsheet would run as a formula
begins with an apostrophe.

Examples:
  brand-records export conversions --format ndjson --out conversions.ndjson
  brand-records export submissions --status approved --format csv \\
    --out approved.csv --replace
`;

interface ExportOptions {
  readonly format: ExportFormat;
  readonly out: string;
  readonly replace?: true;
  readonly restart?: true;
}

export function exportCommand(shell: Shell): Command {
  const command = new Command("export")
    .summary("write every record into a file")
    .description(DESCRIPTION)
    .addArgument(resourceArgument())
    .addOption(new Option("--format <format>", "of the file").choices(["ndjson", "csv"]).makeOptionMandatory())
    .requiredOption("--out <file>", "the file; - for standard output, which cannot continue")
    .option("--replace", "replace the file if it exists, when the export is complete")
    .option("--restart", "begin again where an earlier export was interrupted");
  return addFilterOptions(command)
    .addHelpText("after", HELP)
    .action((resource: ResourceName, options: ExportOptions & FilterOptions, self: Command) =>
      shell.act(self, (session) => exportRecords(session, resource, options)),
    );
}

async function exportRecords(session: Session, resource: ResourceName, options: ExportOptions & FilterOptions): Promise<void> {
  const { exportToFile, exportToStream } = await import("../export/export-records.ts");
  const { openExportFile, requireFileName } = await import("../export/export-file.ts");
  const { url } = readAccess(session.terminal.env);
  const { format, out } = options;
  const { interrupted: signal, stdout } = session.terminal;
  const filters = filtersFrom(options);
  if (out === "-") {
    if (session.json) throw new UsageFailure("--json and --out - would both write to standard output", "Leave out --json, or name a file.");
    const source = {
      client: openClient(session, { deadlineMs: DEADLINE_MS }),
      resource,
      filters,
      format,
      signal,
      bar: { update: () => undefined, stop: () => undefined },
    };
    const records = await exportToStream(source, stdout);
    session.note(({ dim }) => dim(`${counted(records, "record")} written.`));
    return;
  }
  await requireFileName(out);
  const file = await openExportFile(
    out,
    { url, resource, filters: { ...filters }, format },
    { replace: options.replace === true, restart: options.restart === true },
  );
  const { state: begun } = file;
  const bar = openProgressBar(session, resource, undefined, { unit: "records", atEnd: "" });
  try {
    if (begun.records > 0) {
      session.note(({ dim }) => dim(`Continuing the export of ${begun.started_at}, after ${counted(begun.records, "record")}.`));
    }
    const client = openClient(session, { expectBrand: begun.brand_id, deadlineMs: DEADLINE_MS });
    const records = await exportToFile({ client, resource, filters, format, signal, bar }, out, file);
    bar.stop();
    const document = { resource, format, out, records, started_at: begun.started_at, continued_after: begun.records };
    session.print(document, ({ green }) => `${green("Complete:")} ${counted(records, "record")} of ${resource} in ${printable(out)}`);
  } finally {
    bar.stop();
    await file.close();
  }
}
