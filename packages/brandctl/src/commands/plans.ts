import type { Plan } from "@brand-records/proto/plans/v1";
import { Command, Option } from "commander";
import { pesos } from "../output/pesos.ts";
import { paintStatus, planText } from "../output/plan-text.ts";
import { shortTime, table, type Column } from "../output/table.ts";
import type { Colors } from "../session.ts";
import type { Shell } from "../shell.ts";
import { examples } from "./examples.ts";
import { parseLimit } from "./parse-limit.ts";
import { readPlans } from "./read-plans.ts";

const BRAND_HELP = "id of the brand";
const LIMIT_DEFAULT = 50;

export function plansCommand(shell: Shell): Command {
  const plans = new Command("plans").description("campaign plans: what was prepared for people to complete; brandctl only reads them");
  plans.addCommand(list(shell));
  plans.addCommand(show(shell));
  return plans;
}

interface ListOptions {
  readonly status?: string;
  readonly limit: number;
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list a brand's plans")
    .description("List a brand's plans, newest first.")
    .argument("<brand>", BRAND_HELP)
    .addOption(new Option("--status <status>", "only those in this state (default: all)").choices(["pending", "completed", "cancelled"]))
    .option("--limit <count>", "at most so many", parseLimit, LIMIT_DEFAULT)
    .addHelpText(
      "after",
      examples(
        ["brandctl plans list brd_01h455vb4pex5vsknk084sn02q --status pending", "what waits for people"],
        ["brandctl plans list brd_01h455vb4pex5vsknk084sn02q --limit 1000 --json | jq -r '.plans[].title'", "all titles, for a script"],
      ),
    )
    .action((brandId: string, { status, limit }: ListOptions, command: Command) =>
      shell.act(command, async (session) => {
        const { plans, mayBeMore } = await readPlans(await session.plans(), { brandId, status, limit });
        // The service knows no brands: a mistyped id reads like a brand without plans.
        const none = `The brand has no ${status === undefined ? "" : `${status} `}plans. Is the id right? See brandctl brands list`;
        session.print({ plans }, (colors) => table(planColumns(colors), plans, colors, none));
        if (mayBeMore) session.note(({ dim }) => dim(`Limited to ${limit}; there may be older ones: see --limit`));
      }),
    );
}

function show(shell: Shell): Command {
  return new Command("show")
    .summary("show all of a plan")
    .description("Show all of a plan but its notes, which are the brand's own and answered to nobody.")
    .argument("<brand>", BRAND_HELP)
    .argument("<plan>", "id of the plan (pln_…), as plans list shows it")
    .addHelpText(
      "after",
      examples(["brandctl plans show brd_01h4… pln_01h4… --json | jq -r .plan.brief", "only what creators are to be told"]),
    )
    .action((brandId: string, planId: string, _options: object, command: Command) =>
      shell.act(command, async (session) => {
        const { plan } = await (await session.plans()).getPlan({ brand_id: brandId, plan_id: planId });
        if (plan == null) throw new Error("plans answered without a plan");
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
    // Up to 200 characters: last, it does not push the others off the screen.
    { title: "TITLE", cell: ({ title }) => title },
  ];
}
