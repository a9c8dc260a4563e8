import type { RecordOf, ResourceName } from "@brand-records/client";
import { pesos, shortTime, type Colors, type Column } from "@brand-records/command-line";

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

export function recordColumns(resource: ResourceName, colors: Colors): readonly Column<AnyRecord>[] {
  return [
    { title: "ID", cell: ({ id }) => id, paint: colors.cyan },
    { title: "STATUS", cell: ({ status }) => status },
    { title: "CREATED (UTC)", cell: ({ created_at }) => shortTime(created_at) },
    // A list's records are all of its resource.
    ...(COLUMNS[resource] as unknown as readonly Column<AnyRecord>[]),
  ];
}
