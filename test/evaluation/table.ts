import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Size } from "./brand.ts";
import type { AnsweredQuestion, UnansweredQuestion } from "./question.ts";

const PAGE = join(process.cwd(), "docs/assistants.md");
/** Encloses the tables in the page. */
const ENCLOSED = /(?<=<!-- evaluation -->\n)[^]*?(?=<!-- \/evaluation -->)/;

/** What a question took of a brand. */
export interface Effort {
  readonly question: AnsweredQuestion;
  readonly size: Size;
  /** Undefined if the assistant asks first. */
  readonly calls: number | undefined;
  readonly tokens: number;
}

/** The tables of the page: what each question takes, and why others have no answer. */
export function evaluationTables(efforts: readonly Effort[], unanswered: readonly UnansweredQuestion[]): string[][] {
  const ofDemo = efforts.filter(({ size }) => size === "demo");
  const ofLarge = new Map(efforts.filter(({ size }) => size === "large").map((effort) => [effort.question, effort]));
  return [
    ["Question", "Calls", "Tokens", "× 20: calls", "Tokens"],
    ["---", "---", "---", "---", "---"],
    ...ofDemo.map((effort) => [effort.question.question, ...cells(effort), ...cells(ofLarge.get(effort.question))]),
    [],
    ["Not answered", "Why"],
    ["---", "---"],
    ...unanswered.map(({ question, reason }) => [question, reason]),
  ];
}

const cells = ({ calls, tokens = 0 }: Partial<Effort> = {}): string[] => [
  String(calls ?? "asks first"),
  (Math.ceil(tokens / 100) * 100).toLocaleString("en"),
];

/** Returns the cells of the tables in the page, without the blanks that align them. */
export function tablesInPage(): string[][] {
  const tables = ENCLOSED.exec(readFileSync(PAGE, "utf8"))?.[0] ?? "";
  const cells = (line: string): string[] =>
    line === ""
      ? []
      : line
          .slice(1, -1)
          .split("|")
          .map((cell) => cell.trim().replace(/^-+$/, "---"));
  return tables.trim().split("\n").map(cells);
}

/** Writes the tables into the page; prettier aligns them. */
export function writeTables(tables: readonly string[][]): void {
  const text = tables.map((cells) => (cells.length === 0 ? "" : `| ${cells.join(" | ")} |`)).join("\n");
  writeFileSync(PAGE, readFileSync(PAGE, "utf8").replace(ENCLOSED, `\n${text}\n\n`));
}
