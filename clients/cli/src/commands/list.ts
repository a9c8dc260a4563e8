import type { RecordOf, ResourceName } from "@brand-records/client";
import { option, pesos, shortTime, UsageFailure, withDefault, type Column } from "@brand-records/command-line";
import { FILTER_OPTIONS, filtersFrom, resourceArgument } from "../input/filter-options.ts";
import { openClient } from "../settings.ts";
import { command } from "../session.ts";

const LIMIT_MAX = 200;

export const listCommand = command("list", {
  summary: "list records, newest first, a page at a time",
  description:
    "List a page of records, newest first. With --json, records have all their fields. To read every record: brand-records export.",
  arguments: [resourceArgument()],
  options: {
    limit: withDefault(option("--limit <n>", "records on the page, 1 to 200"), "20"),
    cursor: option("--cursor <cursor>", "continue after an earlier page: the cursor that it ended with"),
    ...FILTER_OPTIONS,
  },
  run: async (session, { limit: count, cursor, ...filters }, resource: ResourceName) => {
    const limit = readLimit(count);
    const { interrupted: signal } = session.terminal;
    const { data, nextCursor } = await openClient(session).list(resource, filtersFrom(filters), { limit, cursor, signal }).page();
    session.printTable({ resource, data, next_cursor: nextCursor ?? null }, recordColumns(resource), data, "No records match.");
    if (nextCursor !== undefined) session.note(({ dim }) => dim(`There may be more: the same command with --cursor ${nextCursor}`));
  },
});

function readLimit(text: string): number {
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > LIMIT_MAX) throw new UsageFailure("--limit must be a whole number from 1 to 200");
  return limit;
}

type AnyRecord = RecordOf[ResourceName];
type ColumnsOf = { readonly [Name in ResourceName]: readonly Column<RecordOf[Name]>[] };

const count = (value: number | null): string => (value === null ? "-" : value.toLocaleString("en"));

/** What a table shows of each resource's records, after id, status and time. The last column may be cut. */
const COLUMNS: ColumnsOf = {
  campaigns: [
    { title: "TYPE", cell: ({ type }) => type },
    { title: "BUDGET", cell: ({ budget_centavos }) => pesos(budget_centavos), align: "right" },
    { title: "PAID", cell: ({ paid_centavos }) => pesos(paid_centavos), align: "right" },
    { title: "TITLE", cell: ({ title }) => title, cutTo: 8 },
  ],
  submissions: [
    { title: "CAMPAIGN", cell: ({ campaign_id }) => campaign_id },
    { title: "VIEWS", cell: ({ views }) => count(views), align: "right" },
    { title: "EARNED", cell: ({ earned_centavos }) => pesos(earned_centavos), align: "right" },
  ],
  payouts: [
    { title: "CAMPAIGN", cell: ({ campaign_id }) => campaign_id },
    { title: "AMOUNT", cell: ({ amount_centavos }) => pesos(amount_centavos), align: "right" },
    { title: "FEE", cell: ({ fee_centavos }) => pesos(fee_centavos), align: "right" },
  ],
  deposits: [
    { title: "METHOD", cell: ({ method }) => method },
    { title: "AMOUNT", cell: ({ amount_centavos }) => pesos(amount_centavos), align: "right" },
    { title: "REFUNDED", cell: ({ refunded_centavos }) => pesos(refunded_centavos), align: "right" },
    { title: "REFERENCE", cell: ({ reference }) => reference ?? "-", cutTo: 8 },
  ],
  conversions: [
    { title: "LINK", cell: ({ link_id }) => link_id },
    { title: "ORDER", cell: ({ order_amount_centavos }) => pesos(order_amount_centavos), align: "right" },
    { title: "COMMISSION", cell: ({ commission_centavos }) => pesos(commission_centavos), align: "right" },
    { title: "ORDER NUMBER", cell: ({ external_id }) => external_id, cutTo: 12 },
  ],
  links: [
    { title: "CODE", cell: ({ code }) => code },
    { title: "CLICKS", cell: ({ clicks }) => count(clicks), align: "right" },
    { title: "CONVERSIONS", cell: ({ conversions }) => count(conversions), align: "right" },
    { title: "URL", cell: ({ url }) => url, cutTo: 12 },
  ],
};

function recordColumns(resource: ResourceName): readonly Column<AnyRecord>[] {
  return [
    { title: "ID", cell: ({ id }) => id, paint: "cyan" },
    { title: "STATUS", cell: ({ status }) => status },
    { title: "CREATED (UTC)", cell: ({ created_at }) => shortTime(created_at) },
    // A list's records are all of its resource.
    ...(COLUMNS[resource] as unknown as readonly Column<AnyRecord>[]),
  ];
}
