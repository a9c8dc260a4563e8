import { choice, factsText, pesos, printableLines, shortTime, type ColorName, type Column, type Fact } from "@brand-records/command-line";
import type { Plan } from "@brand-records/proto/plans/v1";
import { brandOf, namedBrand } from "../brand-lookup.ts";
import { readPages } from "../connection/read-pages.ts";
import { required } from "../failure.ts";
import { command, group } from "../session.ts";
import type { Colors } from "../terminal.ts";
import { brandCheckOption, brandOption, idArgument, limitOption } from "./options.ts";
import { printList } from "./print-list.ts";

/** The largest page that the service returns. */
const PAGE_SIZE_MAX = 40;

const COLUMNS: readonly Column<Plan>[] = [
  { title: "ID", cell: ({ id }) => id, paint: "cyan" },
  { title: "STATUS", cell: ({ status }) => status, paint: statusColor },
  { title: "TYPE", cell: ({ campaign_type }) => campaign_type },
  { title: "BUDGET", cell: ({ planning_budget_centavos }) => pesos(planning_budget_centavos), align: "right" },
  { title: "PLANNED FOR", cell: ({ planned_for }) => planned_for },
  { title: "REVIEW ON", cell: ({ review_on }) => review_on },
  { title: "CREATED (UTC)", cell: ({ created_at }) => shortTime(created_at) },
  // Up to 200 characters: in the last column it does not push the others off the screen.
  { title: "TITLE", cell: ({ title }) => title },
];

function statusColor({ status }: Plan): ColorName {
  if (status === "pending") return "yellow";
  return status === "completed" ? "green" : "dim";
}

const list = command("list", {
  summary: "list a brand's plans",
  description: "List a brand's plans, newest first.",
  options: {
    brand: brandOption("the brand"),
    status: choice("--status <status>", "only those with this status (default: all)", ["pending", "completed", "cancelled"]),
    limit: limitOption(),
  },
  examples: [
    ["brandctl plans list --brand brd_… --status pending", "plans that people must complete"],
    ["brandctl plans list --brand brd_… --limit 1000 --json | jq -r '.plans[].title'", "all titles, for a script"],
  ],
  run: async (session, { brand, status, limit }) => {
    const brandId = namedBrand(session, brand);
    const client = session.client("plans");
    const listing = await readPages(limit, PAGE_SIZE_MAX, "plans", (page) => client.listPlans({ brand_id: brandId, status, ...page }));
    const empty = `The brand has no ${status === undefined ? "" : `${status} `}plans.`;
    await printList(session, listing, { brandId, name: "plans", columns: COLUMNS, limit, empty });
  },
});

const show = command("show", {
  summary: "show a plan in full",
  description: "Show a plan in full. Only its notes are left out: they are private to the brand.",
  arguments: [idArgument("plan", "id of the plan (pln_…), see plans list")],
  options: { brand: brandCheckOption("plan") },
  examples: [["brandctl plans show pln_… --json | jq -r .plan.brief", "only the brief"]],
  run: async (session, { brand }, plan_id: string) => {
    const brand_id = await brandOf(session, "plan", plan_id, brand);
    const plan = required((await session.client("plans").getPlan({ brand_id, plan_id })).plan, "plan");
    session.print({ plan }, (colors) => planText(plan, colors));
  },
});

/** Lays out a plan for people to read: facts, then texts; a dash for a missing value. */
function planText(plan: Plan, colors: Colors): string {
  const facts: readonly Fact[] = [
    ["ID", plan.id, "cyan"],
    ["Title", plan.title, "bold"],
    ["Status", plan.status, statusColor(plan)],
    ["Brand", plan.brand_id],
    ["Request", plan.request_id],
    ["Type", plan.campaign_type],
    ["Planned for", plan.planned_for],
    ["Review on", plan.review_on],
    ["Budget", pesos(plan.planning_budget_centavos)],
    ["Platforms", plan.platforms.join(", ") || NONE],
    ["Created (UTC)", shortTime(plan.created_at)],
    ["Updated (UTC)", shortTime(plan.updated_at)],
    ["Closed (UTC)", shortTime(plan.closed_at)],
    ["Closed by", plan.closed_by ?? NONE],
  ];
  const texts: readonly (readonly [label: string, lines: readonly string[]])[] = [
    ["Goal", linesOf(plan.goal)],
    ["Summary", linesOf(plan.summary)],
    ["Brief", linesOf(plan.brief)],
    ["Requirements", plan.requirements.length > 0 ? plan.requirements.flatMap(item) : [NONE]],
  ];
  return [
    factsText(facts, colors),
    ...texts.flatMap(([label, lines]) => ["", colors.dim(label), ...lines.map((line) => `  ${line}`.trimEnd())]),
  ].join("\n");
}

const NONE = "-";

const linesOf = (text: string | null | undefined): string[] => printableLines(text ?? NONE);

const item = (text: string): string[] => linesOf(text).map((line, at) => `${at === 0 ? "-" : " "} ${line}`);

export const plansCommand = group("plans", "show the campaign plans prepared for a brand; read only", [list, show]);
