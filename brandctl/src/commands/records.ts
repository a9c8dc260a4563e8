import { declared, flag, openProgressBar } from "@brand-records/command-line";
import { RESOURCE_NAMES, type ResourceName } from "@brand-records/resources";
import { Argument, Option } from "commander";
import { namedBrand, requireBrand } from "../brand-lookup.ts";
import { UsageFailure } from "../failure.ts";
import { importFrom, problemLine, summaryText } from "../import/import-from.ts";
import { openInput } from "../import/open-input.ts";
import { readLines, type InputLine } from "../import/read-lines.ts";
import { command, group } from "../session.ts";
import { brandOption } from "./options.ts";
import { generateCommand } from "./records-generate.ts";
import { setStatusCommand } from "./records-set-status.ts";

const IMPORT_DESCRIPTION = [
  "Import one resource of one brand from NDJSON: one JSON object a line, UTF-8.",
  "All or nothing: with a bad line, or if the import is interrupted, nothing is imported; --skip-bad imports the good lines. Records are identified by id: existing ones are updated, or left alone if equal, so an import is safe to repeat. Of several lines with one id the last counts. created_at never changes. Imported records send no events.",
  "Lines end in LF or CRLF; the last needs no end. A byte order mark is ignored; blank lines are counted and skipped. A line may be 1 MiB long, the input any length. Exit code 1 if any line is bad.",
].join("\n\n");

const importCommand = command("import", {
  summary: "import records from NDJSON",
  description: IMPORT_DESCRIPTION,
  arguments: [new Argument("<file>", "a file, or - for standard input")],
  options: {
    brand: brandOption("the brand whose records they are"),
    resource: declared<ResourceName>(
      new Option("--resource <resource>", "the resource to import").choices(RESOURCE_NAMES).makeOptionMandatory(),
    ),
    skipBad: flag("--skip-bad", "import the good lines, report the bad ones"),
  },
  examples: [
    ["brandctl records import --brand brd_… --resource submissions submissions.ndjson", "a file"],
    ["zcat conversions.ndjson.gz | brandctl records import --brand brd_… --resource conversions -", "the output of another command"],
    ["brandctl records import … --json submissions.ndjson | jq -r '.problems[] | .line'", "the numbers of the bad lines"],
  ],
  run: async (session, { brand, resource, skipBad = false }, file: string) => {
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
      const cell = await requireBrand(session, brandId);
      const { summary, problems } = await importFrom(session, { brandId, cell, resource, skipBad }, lines(), (progress) =>
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
  },
});

export const recordsCommand = group("records", "import records, make synthetic ones, or change a record's status", [
  importCommand,
  generateCommand,
  setStatusCommand,
]);
