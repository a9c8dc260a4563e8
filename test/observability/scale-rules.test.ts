import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { RULES_FOLDER, scaleRules } from "./scale-rules.ts";

/** One promise: drills use the real rules, with an hour in a minute. */

const scaled = (rule: object): unknown => parse(scaleRules(JSON.stringify({ groups: [{ name: "g", rules: [rule] }] }))).groups[0].rules[0];

it.each([
  ["sum(rate(a_total[5m])) > 0.1", "sum(rate(a_total[5000ms])) > 0.1"],
  ["a[3d] / a[1h30m]", "a[4320000ms] / a[90000ms]"],
  ["max_over_time(a[1h:15s] offset 1d)", "max_over_time(a[60000ms:250ms] offset 1440000ms)"],
  ['a{status=~"[235].."}[6h] and api:slow:ratio6h', 'a{status=~"[235].."}[360000ms] and api:slow:ratio6h'],
])("scales the durations in %s, and nothing else", (expr, expected) => {
  expect(scaled({ record: "r", expr })).toEqual({ record: "r", expr: expected });
});

it("scales `for` and thresholds in seconds", () => {
  expect(scaled({ alert: "A", expr: "a > 1", for: "1m" })).toEqual({ alert: "A", expr: "a > 1", for: "1000ms" });
  expect(scaled({ record: "a:late_after_seconds", expr: "vector(60)" })).toEqual({
    record: "a:late_after_seconds",
    expr: "vector(60) / 60",
  });
  expect(() => scaled({ record: "a:late_after_seconds", expr: "max(a)" })).toThrow("a:late_after_seconds is no threshold: max(a)");
});

it("keeps every rule of the files", async () => {
  for (const name of await readdir(RULES_FOLDER)) {
    const text = await readFile(join(RULES_FOLDER, name), "utf8");
    const names = (rules: string): unknown =>
      parse(rules).groups.map(({ rules }: { rules: { record: string; alert: string }[] }) => rules.map((r) => r.record ?? r.alert));
    expect(names(scaleRules(text))).toEqual(names(text));
  }
});
