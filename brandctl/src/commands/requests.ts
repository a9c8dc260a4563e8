import { type Column, option, shortTime } from "@brand-records/command-line";
import type { FailedRequests } from "@brand-records/proto/accounts/v1";
import { emptyListText, namedBrand } from "../brand-lookup.ts";
import { command, group } from "../session.ts";
import { brandOption, idOption, parseTime, textOption } from "./options.ts";

const DAY_MS = 86_400_000;
const KEEP_DAYS = 7;
const BUCKET_MINUTES = 60;

const COLUMNS: readonly Column<FailedRequests>[] = [
  { title: "REQUESTS", cell: ({ requests }) => requests.toLocaleString("en"), align: "right" },
  { title: "CODE", cell: ({ code }) => code, paint: "red" },
  { title: "FIELD", cell: ({ field }) => field || "-" },
  { title: "ROUTE", cell: ({ route }) => route },
  { title: "KEY", cell: ({ key_id }) => key_id, paint: "cyan" },
  { title: "LAST (UTC)", cell: ({ last_at }) => shortTime(last_at) },
];

const list = command("list", {
  summary: "list what failed, by key, route, code and field",
  description:
    "List requests to the API and by assistants that were refused or failed in the last seven days, by key, route, code and field, the most frequent first: 200 at most. " +
    "A request without a valid key belongs to no brand and is not listed. Neither what a request held nor its message is kept. With --json also the counts of each hour and the last request ids.",
  options: {
    brand: brandOption("the brand"),
    key_id: idOption("--key <id>", "key", "only those with this key (key_…)"),
    route: textOption("--route <route>", 'only this route, such as "GET /api/v1/payouts"'),
    code: textOption("--code <code>", "only this error code, such as rate_limited"),
    since: option("--since <time>", "only at or after this RFC 3339 time (default: seven days ago)", parseTime),
    until: option("--until <time>", "only before this RFC 3339 time (default: now)", parseTime),
  },
  examples: [
    ["brandctl requests list --brand brd_…", "what a brand's integrations do wrong"],
    [
      "brandctl requests list --brand brd_… --code internal_error --json | jq -r '.groups[].request_ids[]'",
      "our failures, to look up in the log",
    ],
  ],
  run: async (session, { brand, since, until, ...filter }) => {
    const brandId = namedBrand(session, brand);
    const to = until ?? Date.now();
    const times = { from: new Date(since ?? to - KEEP_DAYS * DAY_MS).toISOString(), to: new Date(to).toISOString() };
    const request = { brand_id: brandId, ...filter, ...times, bucket_minutes: BUCKET_MINUTES };
    const failed = await session.client("accounts.usage").listFailedRequests(request);
    const { groups, has_more_groups, counted_since } = failed;
    const none = groups.length === 0 ? await emptyListText(session, brandId, "No such request has failed.") : "";
    session.printTable(failed, COLUMNS, groups, none);
    if (has_more_groups) session.note(({ dim }) => dim("Limited to the 200 with the most requests"));
    if (counted_since != null)
      session.note(({ dim }) => dim(`Counts from before ${shortTime(counted_since)} UTC were removed: there are too many`));
  },
});

export const requestsCommand = group("requests", "show requests of a brand that were refused or failed", [list]);
