import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { RULES_FOLDER } from "./scale-rules.ts";

export const RULE_TESTS_FOLDER = "deploy/observability/rule-tests";

interface RecordingRule {
  readonly record: string;
  readonly alert?: undefined;
  readonly expr: string;
}

export interface AlertingRule {
  readonly alert: string;
  readonly record?: undefined;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export const RULE_FILES: readonly string[] = readdirSync(RULES_FOLDER)
  .toSorted()
  .map((name) => join(RULES_FOLDER, name));

/** Every rule of deploy/observability/rules. */
export const RULES: readonly (RecordingRule | AlertingRule)[] = RULE_FILES.flatMap((path) => {
  const { groups } = parse(readFileSync(path, "utf8")) as { groups: readonly { rules: readonly (RecordingRule | AlertingRule)[] }[] };
  return groups.flatMap(({ rules }) => rules);
});

export const ALERTS = RULES.filter((rule): rule is AlertingRule => rule.alert !== undefined);

/** The names that recording rules make. */
export const RECORDED: ReadonlySet<string> = new Set(RULES.flatMap(({ record }) => record ?? []));

/** Returns the names of metrics that docs/metrics.md lists, and those that Prometheus itself makes. */
export function documentedMetrics(): ReadonlySet<string> {
  const text = readFileSync(join(process.cwd(), "docs/metrics.md"), "utf8");
  return new Set(["up", "ALERTS", ...[...text.matchAll(/`([a-z][a-z0-9_]*)(?:\{[^`]*)?`/g)].map(([, name]) => name ?? "")]);
}
