import { type Column, option, shortTime, timeWithSeconds } from "@brand-records/command-line";
import type { FailedRequests, ServedRequest } from "@brand-records/proto/accounts/v1";
import { emptyListText, namedBrand } from "../brand-lookup.ts";
import { command, group } from "../session.ts";
import { brandOption, idOption, limitOption, parseTime, textOption } from "./options.ts";
import { noteLimit } from "./print-list.ts";

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

/** All that a brand keeps. */
const REQUESTS_MAX = 1_000;

const REQUEST_COLUMNS: readonly Column<ServedRequest>[] = [
  { title: "TIME (UTC)", cell: ({ at }) => timeWithSeconds(at) },
  { title: "STATUS", cell: ({ http_status, code }) => `${http_status} ${code}`.trim() },
  { title: "MS", cell: ({ duration_ms }) => duration_ms.toLocaleString("en"), align: "right" },
  { title: "ROUTE", cell: ({ route }) => route },
  { title: "KEY", cell: ({ key_id }) => key_id, paint: "cyan" },
  { title: "CLIENT", cell: ({ client }) => client },
  { title: "REQUEST ID", cell: ({ request_id }) => request_id },
];

const recent = command("recent", {
  summary: "list the last requests, or the one with an id",
  description:
    "List the last requests to the API and by assistants, newest first: up to 1,000, of 24 hours. A gateway sends them every 10 seconds. " +
    "A request without a valid key belongs to no brand and is not listed. What a request held is not kept.",
  options: {
    brand: brandOption("the brand"),
    key_id: idOption("--key <id>", "key", "only those with this key (key_…)"),
    route: textOption("--route <route>", 'only this route, such as "POST /api/mcp tools/call list_payouts"'),
    status: textOption("--status <status>", "only those that succeeded, failed, or got this status, such as 429"),
    request_id: textOption("--id <id>", "only those with this request id, as an error names it"),
    limit: limitOption(REQUESTS_MAX),
  },
  examples: [["brandctl requests recent --brand brd_… --id 4bcfe915-4532-4e76-8f06-76131da1c19f", "what became of a request"]],
  run: async (session, { brand, limit, ...filter }) => {
    const brand_id = namedBrand(session, brand);
    const request = { brand_id, ...filter, page_size: Math.min(limit, REQUESTS_MAX) };
    const { requests, next_page_token, keep_hours } = await session.client("accounts.usage").listRequests(request);
    const text = keep_hours === 0 ? "Requests are not kept here: see REQUESTS_RETENTION_HOURS." : "No such request.";
    const none = requests.length === 0 ? await emptyListText(session, brand_id, text) : "";
    session.printTable({ requests }, REQUEST_COLUMNS, requests, none);
    noteLimit(session, next_page_token != null, limit);
  },
});

export const requestsCommand = group("requests", "show the last requests of a brand, and what was refused or failed", [recent, list]);
