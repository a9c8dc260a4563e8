import { DETAIL_COLUMNS_MAX, table, wrapped, type ColorName, type Colors, type Column, type Detail } from "@brand-records/command-line";
import { outcomeOf } from "../deliveries/reply-text.ts";
import type { Result, SentTrial, Verdict } from "./rule.ts";
import { sentIn } from "./verdict.ts";

const WORDS: Readonly<Record<Result, string>> = { kept: "ok", broken: "BROKEN", look: "look", not_checked: "not checked" };

const countOf = (verdicts: readonly Verdict[], result: Result): number => verdicts.filter((verdict) => verdict.result === result).length;

/** @returns 0 if every rule is kept, 1 if one is broken, 3 if none is and not all were checked */
export function exitCodeOf(verdicts: readonly Verdict[]): number {
  if (countOf(verdicts, "broken") > 0) return 1;
  return countOf(verdicts, "not_checked") > 0 ? 3 : 0;
}

export const requestsOf = (verdicts: readonly Verdict[]): number => verdicts.flatMap(sentIn).length;

const COLUMNS: readonly Column<Verdict>[] = [
  {
    title: "RESULT",
    cell: ({ result }) => WORDS[result],
    paint: ({ result }) => (({ kept: "green", broken: "red", look: "yellow", not_checked: "dim" }) as const)[result],
  },
  { title: "CHECK", cell: ({ rule }) => rule.check },
  { title: "THE RECEIVER", cell: ({ observed }) => observed, wraps: true },
];

/**
 * The report for people: a row for each rule, and below a broken one the rule with what to do.
 *
 * @param guide where the rules are
 */
export const reportText = (verdicts: readonly Verdict[], guide: string, colors: Colors): string =>
  `${table(COLUMNS, verdicts, colors, "", detailsOf)}\n\n${summaryText(verdicts, colors)} The rules: ${guide}`;

function detailsOf({ rule, result, advice }: Verdict): Detail[] {
  if (result !== "broken" && advice === undefined) return [];
  const lines = (text: string, paint: ColorName): Detail[] => wrapped(text, DETAIL_COLUMNS_MAX).map((line) => ({ text: line, paint }));
  const law = result === "not_checked" ? [] : lines(`Rule: ${rule.sentence}`, "dim");
  return [...law, ...(advice === undefined ? [] : lines(`Do:   ${advice}`, "yellow"))];
}

function summaryText(verdicts: readonly Verdict[], { green, red, yellow }: Colors): string {
  const [kept, broken, look, unchecked] = (["kept", "broken", "look", "not_checked"] as const).map((result) => countOf(verdicts, result));
  const others = [look !== 0 && `${look} to look at`, unchecked !== 0 && `${unchecked} not checked`]
    .filter(Boolean)
    .map((text) => `, ${text}`);
  const whole = unchecked === 0 ? green("No rule is broken") : yellow("Not every rule was checked");
  const verdict = broken === 0 ? whole : red(`${broken} ${broken === 1 ? "rule is" : "rules are"} broken`);
  return `${verdict}: ${kept} kept${others.join("")}.`;
}

/** The report for programs. */
export function reportDocument(to: URL, type: string, verdicts: readonly Verdict[], guide: string): object {
  return {
    to: to.href,
    type,
    passed: exitCodeOf(verdicts) === 0,
    requests: requestsOf(verdicts),
    rules: verdicts.map(({ rule, result, observed, advice, trials, controls }) => ({
      id: rule.id,
      check: rule.check,
      result,
      expects: rule.expects,
      observed,
      rule: rule.sentence,
      docs: `${guide}#${rule.section}`,
      ...(advice !== undefined && { advice }),
      requests: trials.map(trialDocument),
      ...(controls.length > 0 && { controls: controls.map(trialDocument) }),
    })),
  };
}

function trialDocument({ variation, reply }: SentTrial): object {
  const { kind, milliseconds } = reply;
  return {
    variation,
    outcome: outcomeOf(reply),
    status: kind === "response" ? reply.status : null,
    ...(kind === "failed" && { code: reply.code }),
    milliseconds,
  };
}
