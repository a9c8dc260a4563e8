import type { Plan } from "@brand-records/proto/plans/v1";
import { type Fact, factLines, pesos, printableLines, shortTime } from "@brand-records/command-line";
import type { Colors } from "../terminal.ts";

/** Colours a plan's status. */
export function paintStatus(text: string, status: string, colors: Colors): string {
  if (status === "pending") return colors.yellow(text);
  return status === "completed" ? colors.green(text) : colors.dim(text);
}

/** Lays out a plan for people to read: facts, then texts; a dash for a missing value. */
export function planText(plan: Plan, colors: Colors): string {
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
