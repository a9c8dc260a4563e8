import { RESOURCE_NAMES, type ResourceName } from "@brand-records/resources";
import { Command, Option } from "commander";
import { openProgressBar } from "@brand-records/command-line";
import { namedBrand, requireBrand } from "../brand-lookup.ts";
import { UsageFailure } from "../failure.ts";
import { importFrom, problemLine, summaryText } from "../import/import-from.ts";
import { openInput } from "../import/open-input.ts";
import { readLines, type InputLine } from "../import/read-lines.ts";
import type { Session } from "../session.ts";
import type { Shell } from "../shell.ts";
import { brandOption, examples } from "./options.ts";
import { generateCommand } from "./records-generate.ts";
import { setStatusCommand } from "./records-set-status.ts";

export function recordsCommand(shell: Shell): Command {
  const records = new Command("records").description("import records, make synthetic ones, or change a record's status");
  for (const command of [importCommand, generateCommand, setStatusCommand]) records.addCommand(command(shell));
  return records;
}

interface ImportOptions {
  readonly brand?: string;
  readonly resource: ResourceName;
  readonly skipBad?: boolean;
}

const IMPORT_DESCRIPTION = [
  "Import one resource of one brand from NDJSON: one JSON object a line, UTF-8.",
  "All or nothing: with a bad line, or if the import is interrupted, nothing is imported; --skip-bad imports the good lines. Records are identified by id: existing ones are updated, or left alone if equal, so an import is safe to repeat. Of several lines with one id the last counts. created_at never changes. Imported records send no events.",
  "Lines end in LF or CRLF; the last needs no end. A byte order mark is ignored; blank lines are counted and skipped. A line may be 1 MiB long, the input any length. Exit code 1 if any line is bad.",
].join("\n\n");

function importCommand(shell: Shell): Command {
  return new Command("import")
    .summary("import records from NDJSON")
    .description(IMPORT_DESCRIPTION)
    .argument("<file>", "a file, or - for standard input")
    .addOption(brandOption("the brand whose records they are"))
    .addOption(new Option("--resource <resource>", "the resource to import").choices(RESOURCE_NAMES).makeOptionMandatory())
    .option("--skip-bad", "import the good lines, report the bad ones")
    .addHelpText(
      "after",
      examples(
        ["brandctl records import --brand brd_… --resource submissions submissions.ndjson", "a file"],
        ["zcat conversions.ndjson.gz | brandctl records import --brand brd_… --resource conversions -", "the output of another command"],
        ["brandctl records import … --json submissions.ndjson | jq -r '.problems[] | .line'", "the numbers of the bad lines"],
      ),
    )
    .action((file: string, options: ImportOptions, command: Command) =>
      shell.act(command, (session) => importRecords(session, file, options)),
    );
}

async function importRecords(session: Session, file: string, { brand, resource, skipBad = false }: ImportOptions): Promise<number> {
  if (file === "") throw new UsageFailure("file: must not be empty; - is standard input");
  const brandId = namedBrand(session, brand);
  const input = await openInput(file, session);
  const bar = openProgressBar(session, resource, input.bytes);
  let blank = 0;
  const lines = async function* (): AsyncGenerator<InputLine> {
    for await (const line of readLines(input.chunks)) {
      if (typeof line === "string" && line.trim() === "") blank += 1;
      yield line;
    }
  };
  try {
    await requireBrand(session, brandId);
    const { summary, problems } = await importFrom(session, { brandId, resource, skipBad }, lines(), (progress) =>
      bar.update(input.bytesRead(), progress.lines),
    );
    bar.stop();
    for (const problem of problems) session.note(({ red }) => red(problemLine(problem)));
    session.print({ summary: { ...summary, blank }, problems }, (colors) =>
      summaryText({ ...summary, blank, resource, brandId, shown: problems.length }, colors),
    );
    return summary.bad > 0 ? 1 : 0;
  } finally {
    bar.stop();
    input.close();
  }
}
