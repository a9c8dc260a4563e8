import type { FailedRequests } from "@brand-records/proto/accounts/v1";
import { type Column, shortTime, table } from "@brand-records/command-line";
import { Command, Option } from "commander";
import { emptyListText, namedBrand } from "../brand-lookup.ts";
import type { Shell } from "../shell.ts";
import type { Colors } from "../terminal.ts";
import { brandOption, examples, idParser, parseTime, textParser } from "./options.ts";

const DAY_MS = 86_400_000;
const KEEP_DAYS = 7;
const BUCKET_MINUTES = 60;

export function requestsCommand(shell: Shell): Command {
  return new Command("requests").description("show requests of a brand that were refused or failed").addCommand(list(shell));
}

interface ListOptions {
  readonly brand?: string;
  readonly key?: string;
  readonly route?: string;
  readonly code?: string;
  readonly since?: number;
  readonly until?: number;
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list what failed, by key, route, code and field")
    .description(
      "List requests to the API and by assistants that were refused or failed in the last seven days, by key, route, code and field, the most frequent first: 200 at most. " +
        "A request without a valid key belongs to no brand and is not listed. Neither what a request held nor its message is kept. With --json also the counts of each hour and the last request ids.",
    )
    .addOption(brandOption("the brand"))
    .addOption(new Option("--key <id>", "only those with this key (key_…)").argParser(idParser("--key", "key")))
    .option("--route <route>", 'only this route, such as "GET /api/v1/payouts"', textParser("--route"))
    .option("--code <code>", "only this error code, such as rate_limited", textParser("--code"))
    .option("--since <time>", "only at or after this RFC 3339 time (default: seven days ago)", parseTime)
    .option("--until <time>", "only before this RFC 3339 time (default: now)", parseTime)
    .addHelpText(
      "after",
      examples(
        ["brandctl requests list --brand brd_…", "what a brand's integrations do wrong"],
        [
          "brandctl requests list --brand brd_… --code internal_error --json | jq -r '.groups[].request_ids[]'",
          "our failures, to look up in the log",
        ],
      ),
    )
    .action(({ brand, key, route, code, since, until }: ListOptions, command: Command) =>
      shell.act(command, async (session) => {
        const brandId = namedBrand(session, brand);
        const to = until ?? Date.now();
        const times = { from: new Date(since ?? to - KEEP_DAYS * DAY_MS).toISOString(), to: new Date(to).toISOString() };
        const filter = { key_id: key, route, code, bucket_minutes: BUCKET_MINUTES };
        const failed = await (await session.usage()).listFailedRequests({ brand_id: brandId, ...times, ...filter });
        const { groups, has_more_groups, counted_since } = failed;
        const none = groups.length === 0 ? await emptyListText(session, brandId, "No such request has failed.") : "";
        session.print(failed, (colors) => table(columns(colors), groups, colors, none));
        if (has_more_groups) session.note(({ dim }) => dim("Limited to the 200 with the most requests"));
        if (counted_since != null)
          session.note(({ dim }) => dim(`Counts from before ${shortTime(counted_since)} UTC were removed: there are too many`));
      }),
    );
}

const columns = (colors: Colors): Column<FailedRequests>[] => [
  { title: "REQUESTS", cell: ({ requests }) => requests.toLocaleString("en"), align: "right" },
  { title: "CODE", cell: ({ code }) => code, paint: colors.red },
  { title: "FIELD", cell: ({ field }) => field || "-" },
  { title: "ROUTE", cell: ({ route }) => route },
  { title: "KEY", cell: ({ key_id }) => key_id, paint: colors.cyan },
  { title: "LAST (UTC)", cell: ({ last_at }) => shortTime(last_at) },
];
