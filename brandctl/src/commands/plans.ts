import type { Plan } from "@brand-records/proto/plans/v1";
import { Command, Option } from "commander";
import { factLines, pesos, printableLines, shortTime, table, type Column, type Fact } from "@brand-records/command-line";
import { brandOf, emptyListText, namedBrand } from "../brand-lookup.ts";
import { readPages } from "../connection/read-pages.ts";
import { required } from "../failure.ts";
import type { Shell } from "../shell.ts";
import type { Colors } from "../terminal.ts";
import { brandCheckOption, brandOption, examples, idArgument, limitOption, noteLimit } from "./options.ts";

/** The largest page that the service returns. */
const PAGE_SIZE_MAX = 40;

export function plansCommand(shell: Shell): Command {
  const plans = new Command("plans").description("show the campaign plans prepared for a brand; read only");
  for (const command of [list, show]) plans.addCommand(command(shell));
  return plans;
}

interface ListOptions {
  readonly brand?: string;
  readonly status?: string;
  readonly limit: number;
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list a brand's plans")
    .description("List a brand's plans, newest first.")
    .addOption(brandOption("the brand"))
    .addOption(new Option("--status <status>", "only those with this status (default: all)").choices(["pending", "completed", "cancelled"]))
    .addOption(limitOption())
    .addHelpText(
      "after",
      examples(
        ["brandctl plans list --brand brd_… --status pending", "plans that people must complete"],
        ["brandctl plans list --brand brd_… --limit 1000 --json | jq -r '.plans[].title'", "all titles, for a script"],
      ),
    )
    .action(({ brand, status, limit }: ListOptions, command: Command) =>
      shell.act(command, async (session) => {
        const brandId = namedBrand(session, brand);
        const client = await session.plans();
        const listing = await readPages(limit, PAGE_SIZE_MAX, async (page) => {
          const { plans, next_after_id } = await client.listPlans({ brand_id: brandId, status, ...page });
          return { items: plans, next: next_after_id };
        });
        const { items: plans } = listing;
        const text = `The brand has no ${status === undefined ? "" : `${status} `}plans.`;
        const none = plans.length === 0 ? await emptyListText(session, brandId, text) : "";
        session.print({ plans }, (colors) => table(planColumns(colors), plans, colors, none));
        noteLimit(session, listing, limit);
      }),
    );
}

function show(shell: Shell): Command {
  return new Command("show")
    .summary("show a plan in full")
    .description("Show a plan in full. Only its notes are left out: they are private to the brand.")
    .addArgument(idArgument("plan", "id of the plan (pln_…), see plans list"))
    .addOption(brandCheckOption("plan"))
    .addHelpText("after", examples(["brandctl plans show pln_… --json | jq -r .plan.brief", "only the brief"]))
    .action((planId: string, { brand }: { brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const brand_id = await brandOf(session, "plan", planId, brand);
        const plan = required((await (await session.plans()).getPlan({ brand_id, plan_id: planId })).plan, "plan");
        session.print({ plan }, (colors) => planText(plan, colors));
      }),
    );
}

function planColumns(colors: Colors): Column<Plan>[] {
  return [
    { title: "ID", cell: ({ id }) => id, paint: colors.cyan },
    { title: "STATUS", cell: ({ status }) => status, paint: (text, { status }) => paintStatus(text, status, colors) },
    { title: "TYPE", cell: ({ campaign_type }) => campaign_type },
    { title: "BUDGET", cell: ({ planning_budget_centavos }) => pesos(planning_budget_centavos), align: "right" },
    { title: "PLANNED FOR", cell: ({ planned_for }) => planned_for },
    { title: "REVIEW ON", cell: ({ review_on }) => review_on },
    { title: "CREATED (UTC)", cell: ({ created_at }) => shortTime(created_at) },
    // Up to 200 characters: in the last column it does not push the others off the screen.
    { title: "TITLE", cell: ({ title }) => title },
  ];
}

/** Colours a plan's status. */
function paintStatus(text: string, status: string, colors: Colors): string {
  if (status === "pending") return colors.yellow(text);
  return status === "completed" ? colors.green(text) : colors.dim(text);
}

/** Lays out a plan for people to read: facts, then texts; a dash for a missing value. */
function planText(plan: Plan, colors: Colors): string {
  const facts: readonly Fact[] = [
    ["ID", plan.id, colors.cyan],
    ["Title", plan.title, colors.bold],
    ["Status", plan.status, (text) => paintStatus(text, plan.status, colors)],
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
    ...factLines(facts, colors),
    ...texts.flatMap(([label, lines]) => ["", colors.dim(label), ...lines.map((line) => `  ${line}`.trimEnd())]),
  ].join("\n");
}

const NONE = "-";

const linesOf = (text: string | null | undefined): string[] => printableLines(text ?? NONE);

const item = (text: string): string[] => linesOf(text).map((line, at) => `${at === 0 ? "-" : " "} ${line}`);
