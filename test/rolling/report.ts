import type { RollingResult } from "./rolling-run.ts";
import { REQUEST_KINDS, type Outcome } from "./traffic.ts";

const FAILURES_SHOWN = 8;

/** A table of a run for a terminal: a row for each phase, and the first failures. */
export function reportRun(title: string, { outcomes, events, entries, badExits }: RollingResult): string {
  const phases = [...new Set(outcomes.map(({ phase }) => phase))];
  const rows = [
    ...phases.map((phase) =>
      rowOf(
        phase,
        outcomes.filter((outcome) => outcome.phase === phase),
      ),
    ),
    rowOf("total", outcomes),
  ];
  const failures = Object.entries(Object.groupBy(outcomes.filter(isFailed), ({ phase, kind, failure }) => `${phase}, ${kind}: ${failure}`));
  return [
    title,
    ["phase".padEnd(14), ...REQUEST_KINDS.map((kind) => kind.padStart(15)), "failed".padStart(8), "slowest".padStart(11)].join(""),
    ...rows,
    `rows that filters should have kept out: ${sumOf(outcomes, ({ wrongRows }) => wrongRows)}`,
    `events: ${events.changes} changes, ${events.lost} lost, ${events.repeated} repeated`,
    `audit log: ${entries.changes} changes of people, ${entries.missing} without an entry, ${entries.doubled} twice`,
    ...badExits.map((exit) => `did not stop cleanly: ${exit}`),
    ...failures.slice(0, FAILURES_SHOWN).map(([text, each = []]) => `  ${each.length} × ${text} (${timesOf(each)})`),
  ].join("\n");
}

/** When the first and the last were sent, to find them in the processes' logs. */
function timesOf(outcomes: readonly Outcome[]): string {
  const times = outcomes.map(({ sentAt }) => sentAt.toISOString().slice(11, 23)).toSorted();
  return `sent at ${times[0]}${times.length > 1 ? ` to ${times.at(-1)}` : ""}`;
}

export const isFailed = ({ failure }: Outcome): boolean => failure !== undefined;

export const sumOf = <T>(items: readonly T[], count: (item: T) => number): number => items.reduce((sum, item) => sum + count(item), 0);

/**
 * Whether every request succeeded, no filtered page had a wrong row, no event is lost, the audit log has each change once, and every process
 * stopped cleanly.
 */
export const isClean = ({ outcomes, events, entries, badExits }: RollingResult): boolean =>
  !outcomes.some(isFailed) &&
  sumOf(outcomes, ({ wrongRows }) => wrongRows) === 0 &&
  events.lost + entries.missing + entries.doubled === 0 &&
  badExits.length === 0;

function rowOf(name: string, outcomes: readonly Outcome[]): string {
  const counts = REQUEST_KINDS.map((kind) => outcomes.filter((outcome) => outcome.kind === kind).length);
  const slowest = outcomes.reduce((most, { ms }) => Math.max(most, ms), 0);
  const cells = counts.map((count) => String(count).padStart(15));
  return `${name.padEnd(14)}${cells.join("")}${String(outcomes.filter(isFailed).length).padStart(8)}${`${Math.round(slowest)} ms`.padStart(11)}`;
}
