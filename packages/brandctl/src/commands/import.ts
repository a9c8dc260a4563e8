import { RESOURCE_NAMES, type ResourceName } from "@brand-records/resources";
import { Command, Option } from "commander";
import { UsageFailure } from "../failure.ts";
import { importFrom } from "../importing/import-from.ts";
import { openInput } from "../importing/open-input.ts";
import { openProgressBar } from "../importing/progress-bar.ts";
import { readLines, type InputLine } from "../importing/read-lines.ts";
import { problemLine, summaryText } from "../importing/report.ts";
import { requireBrand } from "../importing/require-brand.ts";
import type { Shell } from "../shell.ts";
import { examples } from "./examples.ts";

interface ImportOptions {
  readonly brand: string;
  readonly resource: ResourceName;
  readonly skipBad?: boolean;
}

const DESCRIPTION = [
  "Import one resource of one brand from NDJSON: one JSON object a line, UTF-8.",
  "All or nothing: with a bad line, or if the import is interrupted, nothing is imported; --skip-bad imports the good lines. Records are told apart by id. Those that are there already are updated, or left alone if equal, so an import is safe to repeat; of several lines with one id the last holds. created_at never changes. No events are sent for imported records.",
  "Lines may end in LF or CRLF, the last one in nothing; a byte order mark is ignored; blank lines are counted and skipped. A line may be 1 MiB long, the input as long as you like. Exit code 1 if any line was bad.",
].join("\n\n");

export function importCommand(shell: Shell): Command {
  return new Command("import")
    .summary("import records from NDJSON")
    .description(DESCRIPTION)
    .argument("<file>", "a file, or - for standard input")
    .requiredOption("--brand <id>", "the brand whose records they are")
    .addOption(new Option("--resource <resource>", "what kind of records").choices(RESOURCE_NAMES).makeOptionMandatory())
    .option("--skip-bad", "import the good lines, report the bad ones")
    .addHelpText(
      "after",
      examples(
        ["brandctl records import --brand brd_01h4… --resource submissions submissions.ndjson", "a file"],
        ["zcat conversions.ndjson.gz | brandctl records import --brand brd_01h4… --resource conversions -", "what another command writes"],
        ["brandctl records import … --json submissions.ndjson | jq -r '.problems[] | .line'", "the numbers of the bad lines"],
      ),
    )
    .action((file: string, options: ImportOptions, command: Command) =>
      shell.act(command, async (session) => {
        const { brand: brandId, resource, skipBad = false } = options;
        if (file === "") throw new UsageFailure("file: must not be empty; - is standard input");
        const input = await openInput(file, session);
        const bar = openProgressBar(session, resource, input.bytes);
        let blank = 0;
        let looked = 0;
        const lines = async function* (): AsyncGenerator<InputLine> {
          for await (const line of readLines(input.chunks)) {
            if (typeof line === "string" && line.trim() === "") blank += 1;
            yield line;
          }
        };
        try {
          await requireBrand(session, brandId);
          const { summary, problems } = await importFrom(session, { brandId, resource, skipBad }, lines(), (progress) => {
            looked = progress.lines;
            bar.update(input.bytesRead(), looked);
          });
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
      }),
    );
}
