import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { metricOf, seriesIn } from "./promql.ts";
import { documentedMetrics, RECORDED } from "./rules.ts";

/** One promise: the dashboards can be imported into any Grafana, and show metrics that exist. */

const FOLDER = "deploy/observability/dashboards";

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly datasource: { readonly uid: string } }[];
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
}

const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
const dashboards = files.map((name) => [name, JSON.parse(readFileSync(`${FOLDER}/${name}`, "utf8")) as Dashboard] as const);

it("the files are those that dashboards.js makes: npm run dashboards writes them", async () => {
  // A process of its own reads them: these modules are no part of what jest compiles.
  const program = `import { DASHBOARDS } from "./${FOLDER}/dashboards.js"; process.stdout.write(JSON.stringify(DASHBOARDS));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], { maxBuffer: 10_000_000 });
  const made = JSON.parse(stdout) as Record<string, Dashboard>;
  expect(Object.fromEntries(dashboards)).toEqual(Object.fromEntries(Object.entries(made).map(([name, each]) => [`${name}.json`, each])));
});

it("addresses stay the same", () => {
  expect(dashboards.map(([, { uid }]) => uid)).toEqual(["brand-records-api", "brand-records-events", "brand-records-overview"]);
});

describe.each(dashboards)("%s", (_, { panels, templating }) => {
  const shown = panels.filter(({ type }) => type !== "row");

  it("shows metrics of docs/metrics.md and of the rules only, and this system's only", () => {
    const known = documentedMetrics();
    const exprs = shown.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(exprs.length).toBeGreaterThan(10);
    const series = exprs.flatMap(seriesIn).filter((name) => !RECORDED.has(name));
    expect(series.filter((name) => !known.has(name) && !known.has(metricOf(name)))).toEqual([]);
    for (const expr of exprs)
      if (seriesIn(expr).some((name) => !RECORDED.has(name) && name !== "ALERTS")) expect(expr).toContain('job="brand-records"');
  });

  it("gives each panel a description, a unit, queries and a place of its own", () => {
    for (const { title, description = "", fieldConfig, targets = [] } of shown) {
      expect([title, description]).toEqual([title, expect.stringMatching(/\.$/)]);
      expect([title, fieldConfig?.defaults.unit]).toEqual([title, expect.stringMatching(/./)]);
      expect([title, targets.length]).not.toEqual([title, 0]);
    }
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const overlaps = panels.flatMap((one, index) => panels.slice(index + 1).filter((other) => overlap(one, other)));
    expect(overlaps).toEqual([]);
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });

  it("reads from the data source that the reader chooses", () => {
    expect(templating.list).toContainEqual(expect.objectContaining({ name: "datasource", type: "datasource" }));
    const used = shown.flatMap(({ datasource, targets = [] }) => [datasource?.uid, ...targets.map((target) => target.datasource.uid)]);
    expect(new Set(used)).toEqual(new Set(["${datasource}"]));
  });
});

function overlap({ gridPos: one }: Panel, { gridPos: other }: Panel): boolean {
  return one.x < other.x + other.w && other.x < one.x + one.w && one.y < other.y + other.h && other.y < one.y + one.h;
}
