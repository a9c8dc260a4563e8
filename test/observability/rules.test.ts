import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureBackingServices } from "../setup/ensure-backing-services.ts";
import { metricOf, seriesIn } from "./promql.ts";
import { ALERTS, documentedMetrics, RECORDED, RULE_TESTS_FOLDER, RULE_FILES, RULES, type AlertingRule } from "./rules.ts";

/** One promise: every alert can fire, says what to do, and is about metrics that exist. */

const nameOf = ({ alert, labels }: AlertingRule): string => `${alert} ${labels["severity"]}`;

const testFiles = readdirSync(RULE_TESTS_FOLDER).map((name) => join(RULE_TESTS_FOLDER, name));

it("Prometheus accepts the rules", async () => {
  const promtool = (await ensureBackingServices("prometheus")).get("PROMTOOL") ?? "";
  await promisify(execFile)(promtool, ["check", "rules", ...RULE_FILES]);
});

it("a test sees every alert fire, with each of its severities", () => {
  const expected = testFiles.map((file) => readFileSync(file, "utf8")).join("\n");
  const firing = new Set(
    [...expected.matchAll(/ALERTS\{alertname="(\w+)",alertstate="firing"[^}]*severity="(\w+)"/g)].map(
      ([, name, severity]) => `${name} ${severity}`,
    ),
  );
  expect(ALERTS.map(nameOf).filter((alert) => !firing.has(alert))).toEqual([]);
});

it("each alert exists once for each severity", () => {
  const names = ALERTS.map(nameOf);
  expect(names.length).toBeGreaterThan(15);
  expect(new Set(names).size).toBe(names.length);
});

it.each(ALERTS.map((alert) => [nameOf(alert), alert] as const))(
  "%s has a runbook, a summary and a description",
  (_, { alert, labels, annotations }) => {
    expect(alert === "Watchdog" ? ["none"] : ["page", "ticket"]).toContain(labels["severity"]);
    const { summary = "", description = "", runbook_url = "" } = annotations;
    expect(summary).not.toBe("");
    expect(description).toMatch(/\.$/);
    expect(runbook_url).toBe(`{{ $externalLabels.runbooks }}docs/runbooks/${alert}.md`);
    expect(existsSync(runbook_url.slice(runbook_url.indexOf("docs/")))).toBe(true);
  },
);

it("every runbook belongs to an alert and has the same headings", () => {
  const pages = readdirSync("docs/runbooks").filter((name) => name !== "README.md");
  expect(new Set(pages)).toEqual(new Set(ALERTS.map(({ alert }) => `${alert}.md`)));
  for (const page of pages) {
    const headings = readFileSync(join("docs/runbooks", page), "utf8").match(/^#+ .*$/gm);
    expect(headings).toEqual([
      `# ${page.replace(".md", "")}`,
      "## What users notice",
      "## How to confirm",
      "## What to do",
      "## How to know it is over",
    ]);
    expect(readFileSync("docs/runbooks/README.md", "utf8")).toContain(`(${page})`);
  }
});

it("the rules read metrics of docs/metrics.md and of earlier rules only", () => {
  const known = documentedMetrics();
  const read = RULES.flatMap(({ expr }) => seriesIn(expr));
  expect(read.length).toBeGreaterThan(40);
  expect(read.filter((series) => !RECORDED.has(series) && !known.has(series) && !known.has(metricOf(series)))).toEqual([]);
});

it("the queries of runbooks read metrics that exist", () => {
  const known = documentedMetrics();
  const queries = ALERTS.flatMap(({ alert }) => {
    const page = readFileSync(`docs/runbooks/${alert}.md`, "utf8");
    return [...page.matchAll(/```promql\n(.*?)```/gs)].map(([, query = ""]) => query);
  });
  expect(queries.length).toBeGreaterThan(40);
  expect(queries.flatMap(seriesIn).filter((series) => !RECORDED.has(series) && !known.has(series) && !known.has(metricOf(series)))).toEqual(
    [],
  );
});

it("the rules read this system's metrics only, whatever else the Prometheus watches", () => {
  const unbound = RULES.flatMap(({ expr }) => seriesIn(expr).filter((series) => !RECORDED.has(series) && !isBound(expr, series)));
  expect(unbound).toEqual([]);
});

/** Whether each mention of the series selects the job. */
function isBound(expr: string, series: string): boolean {
  const mentions = expr.match(new RegExp(String.raw`\b${series}\b[^,)]{0,30}`, "g")) ?? [];
  return mentions.every((mention) => mention.startsWith(`${series}{job="brand-records"`));
}

it("finds the series of an expression", () => {
  const found = seriesIn(
    'sum by (job) (rate(a_total{b="c{d}"}[5m])) / on (e) group_left (f) g:h > bool scalar(i) unless j_bucket offset 5m or vector(0)',
  );
  expect(found).toEqual(["a_total", "g:h", "i", "j_bucket"]);
});
