import type { ResourceName } from "@brand-records/client";
import { table, UsageFailure } from "@brand-records/command-line";
import { Command } from "commander";
import { addFilterOptions, filtersFrom, resourceArgument, type FilterOptions } from "../input/filter-options.ts";
import { recordColumns } from "../output/record-columns.ts";
import { openClient } from "../settings.ts";
import type { Shell } from "../shell.ts";

const LIMIT_MAX = 200;

export function listCommand(shell: Shell): Command {
  const command = new Command("list")
    .summary("list records, newest first, a page at a time")
    .description(
      "List a page of records, newest first. With --json, records have all their fields. To read every record: brand-records export.",
    )
    .addArgument(resourceArgument())
    .option("--limit <n>", "records on the page, 1 to 200", "20")
    .option("--cursor <cursor>", "continue after an earlier page: the cursor that it ended with");
  return addFilterOptions(command).action((resource: ResourceName, options: FilterOptions, self: Command) =>
    shell.act(self, async (session) => {
      const limit = readLimit(options["limit"] ?? "");
      const { interrupted: signal } = session.terminal;
      const page = await openClient(session).list(resource, filtersFrom(options), { limit, cursor: options["cursor"], signal }).page();
      const { data, nextCursor } = page;
      session.print({ resource, data, next_cursor: nextCursor ?? null }, (colors) =>
        table(recordColumns(resource, colors), data, colors, "No records match."),
      );
      if (nextCursor !== undefined) session.note(({ dim }) => dim(`There may be more: the same command with --cursor ${nextCursor}`));
    }),
  );
}

function readLimit(text: string): number {
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > LIMIT_MAX) throw new UsageFailure("--limit must be a whole number from 1 to 200");
  return limit;
}
