import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parse, stringify } from "yaml";

/** The rules of deploy/observability, as they are. */
export const RULES_FOLDER = join(process.cwd(), "deploy/observability/rules");

/** How often targets are scraped and rules evaluated, by deploy/observability/prometheus.yml. */
export const INTERVAL_MS = 15_000;

/** A drill's minute is an hour of the rules. */
export const SCALE = 60;

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
}

interface RuleGroup {
  readonly name: string;
  readonly interval?: string;
  readonly rules: readonly Rule[];
}

/**
 * Writes the rules with all their durations divided by `scale` into `folder`: range selectors, offsets, `for`, intervals, and the
 * thresholds in seconds, which are recorded as `vector(…)` under names that end in `_seconds`. Rates, shares and counts stay.
 *
 * @returns the paths of the written files
 */
export async function writeScaledRules(folder: string, scale = SCALE, source = RULES_FOLDER): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const names = (await readdir(source)).filter((name) => name.endsWith(".yml")).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, basename(name));
      await writeFile(path, scaleRules(await readFile(join(source, name), "utf8"), scale));
      return path;
    }),
  );
}

/** @throws if a threshold is not written as `vector(…)`, or a duration is none */
export function scaleRules(text: string, scale = SCALE): string {
  const { groups } = parse(text) as { groups: readonly RuleGroup[] };
  return stringify({ groups: groups.map((group) => scaleGroup(group, scale)) }, { lineWidth: 0 });
}

function scaleGroup({ interval, rules, ...group }: RuleGroup, scale: number): RuleGroup {
  return {
    ...group,
    ...(interval !== undefined && { interval: scaleDuration(interval, scale) }),
    rules: rules.map((rule) => ({
      ...rule,
      expr: isThreshold(rule) ? scaleThreshold(rule, scale) : scaleExpression(rule.expr, scale),
      ...(rule.for !== undefined && { for: scaleDuration(rule.for, scale) }),
      ...(rule.keep_firing_for !== undefined && { keep_firing_for: scaleDuration(rule.keep_firing_for, scale) }),
    })),
  };
}

const isThreshold = ({ record }: Rule): boolean => record?.endsWith("_seconds") ?? false;

function scaleThreshold({ record, expr }: Rule, scale: number): string {
  if (!/^vector\([\d\s*.]+\)$/.test(expr)) throw new Error(`${record} is no threshold: ${expr}`);
  return `${expr} / ${scale}`;
}

const DURATION = String.raw`(?:\d+(?:ms|[smhdwy]))+`;
/** What is in brackets (a range, or a subquery's range and step), and offsets. */
const IN_EXPRESSION = new RegExp(String.raw`\[[^\]]*\]|\boffset\s+-?${DURATION}`, "g");

function scaleExpression(expr: string, scale: number): string {
  // Brackets within quotes belong to a regular expression.
  return expr.replaceAll(/"[^"]*"|[^"]+/g, (part) =>
    part.startsWith('"')
      ? part
      : part.replaceAll(IN_EXPRESSION, (found) =>
          found.replaceAll(new RegExp(DURATION, "g"), (duration) => scaleDuration(duration, scale)),
        ),
  );
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
};

function scaleDuration(duration: string, scale: number): string {
  const parts = [...duration.matchAll(/(\d+)(ms|[smhdwy])/g)];
  if (parts.length === 0) throw new Error(`no duration: ${duration}`);
  const ms = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNIT_MS[unit ?? ""] ?? Number.NaN), 0) / scale;
  return `${Math.max(1, Math.round(ms))}ms`;
}
