import { randomUUID } from "node:crypto";
import { BrandRecordsError, type PlanInput } from "@brand-records/client";
import { CommandFailure, type Fact, Interrupted, mandatory, option, UsageFailure, type Values } from "@brand-records/command-line";
import { reportOf } from "../failure.ts";
import { command, group, type Session } from "../session.ts";
import { openClient, readAccess } from "../settings.ts";

/** Milliseconds for a plan, with all repetitions: they make no second one. */
const DEADLINE_MS = 120_000;

const HELP = `
The file is one JSON object, as the service's page /docs/api describes it:
  {
    "title": "Tag-ulan skincare clips",
    "goal": "500,000 views of short clips before Christmas",
    "campaign_type": "blitz",
    "planned_for": "2026-12-01",
    "review_on": "2026-12-15",
    "planning_budget": 75000
  }

One request_id makes one plan, however often it is sent. The command makes one if the file has none, and prints it
if it fails and the plan may exist: repeat the command with it.
`;

const OPTIONS = {
  file: mandatory(option("--file <file>", "the plan's JSON; - for standard input")),
  requestId: option("--request-id <uuid>", "request_id of a plan that may exist already, from an earlier run"),
};

const prepare = command("prepare", {
  summary: "prepare a campaign plan that people complete",
  description: "Prepare a campaign plan from a JSON file. People complete it in the workspace: preparing publishes and spends nothing.",
  options: OPTIONS,
  help: HELP,
  run: preparePlan,
});

export const plansCommand = group("plans", "Campaign plans.", [prepare], "campaign plans");

async function preparePlan(session: Session, { file, requestId }: Values<typeof OPTIONS>): Promise<void> {
  const { interrupted: signal, env } = session.terminal;
  const { url } = readAccess(env);
  const input = withRequestId(parsePlan(await session.input.readText(file, "--file")), requestId);
  const plan = await openClient(session, { deadlineMs: DEADLINE_MS })
    .prepareCampaignPlan(input, { signal })
    .catch((error: unknown) => {
      throw withNextStep(error, input.request_id, signal);
    });
  session.printFacts(plan, [
    // A service of 1.0.0 sends none.
    ...(plan.warnings ?? []).map((warning): Fact => ["Warning", warning, "yellow"]),
    ["Plan", plan.plan_id, "cyan"],
    ["Status", plan.status],
    ["Title", plan.title],
    ["To complete it", new URL(plan.review_path, url).href],
    ["request_id", plan.request_id],
  ]);
}

function parsePlan(text: string): PlanInput {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageFailure(`--file is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as PlanInput;
  throw new UsageFailure("--file must have one JSON object", "See brand-records plans prepare --help");
}

/** Makes the request_id before the first attempt: an interrupted command must be able to name it. */
function withRequestId(input: PlanInput, requestId: string | undefined): PlanInput & { readonly request_id: string } {
  // A file may have null for none.
  const request_id = input.request_id ?? requestId ?? randomUUID();
  if (requestId !== undefined && request_id !== requestId) {
    throw new UsageFailure("--request-id differs from the request_id of the file", "Give one of them.");
  }
  return { ...input, request_id };
}

/** The plan may exist if an earlier attempt failed, or the only one got no response, one of a part that failed, or an unreadable success. */
function withNextStep(error: unknown, requestId: string, signal: AbortSignal): unknown {
  const hint = `The plan may exist. The same command with --request-id ${requestId} makes no second one.`;
  if (signal.aborted) return new Interrupted("Interrupted.", hint);
  if (!(error instanceof BrandRecordsError)) return error;
  const { status = 0, attempts } = error;
  const isRefused = status >= 300 && status < 500 && status !== 408;
  if (attempts === 1 && isRefused) return error;
  const steps = [reportOf(error).hint, hint].filter(Boolean).join("\n");
  return new CommandFailure(error.code, error.message, { cause: error, hint: steps });
}
