import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "@brand-records/testkit";
import type { Answer, Call } from "./callers.ts";
import type { Drill } from "./drill.ts";
import { startDrillSystem, type DrillSystem } from "./drill-system.ts";

/**
 * One promise: docs/operations.md says what each fault does. Callers get the answers it names, in time; the alert fires on the metrics
 * of the real processes; and once the fault is over, everything works again without anyone's help, and no event is lost.
 */

/** The gateway's deadline and the console's; the platform's statements are its own. */
const ANSWER_SECONDS_MAX = { page: 5, tool: 5, plan: 5, keys: 10, receivers: 10, change: 10 } as const;
/** Tolerance for two cores that run everything. */
const LATE_MS = 5_000;
/** One is prepared each second, and a brand has at most 200. */
const CLOSE_PLANS_EVERY_MS = 60_000;

let system: DrillSystem;

/** @param calmSeconds how long nothing happens at first, and no alert may fire; 60 are an hour of the scaled rules */
export function describeDrills(drills: readonly Drill[], calmSeconds: number): void {
  const calmMs = Number(process.env["CALM_SECONDS"] ?? calmSeconds) * 1_000;
  beforeAll(async () => {
    system = await startDrillSystem();
    await system.untilWatched();
  });
  afterAll(() => system.stop());

  it(
    "fires no alert while all is well, by the scaled rules and as they are",
    async () => {
      const unscaled = await system.watchUnscaled();
      try {
        const from = Date.now();
        for (let until = from; until < from + calmMs; until += CLOSE_PLANS_EVERY_MS) {
          await system.platform.closePlans();
          await pause(Math.min(CLOSE_PLANS_EVERY_MS, from + calmMs - until));
        }
        expect(failures(system.load.since(from))).toEqual([]);
        for (const prometheus of [system.prometheus, unscaled]) {
          expect(await prometheus.query(`max_over_time(ALERTS{alertstate="firing",severity!="none"}[${calmMs}ms])`)).toEqual([]);
          expect(await prometheus.query("up == 1")).toHaveLength(6);
        }
        expect(system.errorLines()).toEqual([]);
      } finally {
        await unscaled.stop();
      }
    },
    calmMs + 60_000,
  );

  it.each(drills.map((drill) => [drill.fault, drill] as const))(
    "%s: callers get what the table says, the alert fires, and everything recovers",
    async (_, drill) => {
      await system.platform.closePlans();
      await system.load.untilGood();
      const errorsBefore = system.errorLines();
      const appliedAt = Date.now();
      let firing = 0;
      let healedAt = 0;
      try {
        await drill.apply(system);
        await system.prometheus.untilFiring(drill.alert, drill.labels);
        firing = Date.now() - appliedAt;
        await untilAllAnswered(drill, appliedAt);
        await drill.during?.(system);
        await untilLogged(drill, appliedAt);
      } finally {
        await drill.heal(system);
        healedAt = Date.now();
      }
      await system.load.untilGood();
      const good = Date.now() - healedAt;
      await system.load.pause("change");
      await system.platform.untilDelivered(system.receivers);
      const delivered = Date.now() - healedAt;
      system.load.resume("change");
      await system.prometheus.untilOver(drill.alert, drill.labels);
      report(drill, affected(appliedAt), { firing, good, delivered, over: Date.now() - healedAt });
      expect(wrongAnswers(drill, affected(appliedAt))).toEqual([]);
      expect(system.errorLines().filter((line) => !errorsBefore.includes(line) && drill.errors?.test(line) !== true)).toEqual([]);
    },
    240_000,
  );
}

/** The answers that came after the fault had begun, also to calls under way. */
const affected = (appliedAt: number): readonly Answer[] =>
  system.load.since(appliedAt - 5_000).filter(({ startedAt, ms }) => startedAt + ms >= appliedAt);

const failures = (answers: readonly Answer[]): readonly Answer[] => answers.filter(({ answer }) => answer !== "ok");

/** Each call that the drill names must have failed as it says. */
function untilAllAnswered({ answers }: Drill, appliedAt: number): Promise<void> {
  const named = Object.entries(answers) as [Call, readonly string[]][];
  return eventually(
    () => {
      const seen = affected(appliedAt);
      const unseen = named.filter(([call, expected]) => !seen.some((each) => each.call === call && expected.includes(each.answer)));
      expect(unseen).toEqual([]);
    },
    { timeoutMs: 30_000, everyMs: 100 },
  );
}

/** The failure has a line at `warn` with its cause in the process where it arises, so that a request's id leads there. */
function untilLogged({ logged }: Drill, appliedAt: number): Promise<void> {
  return eventually(() => {
    if (logged === undefined) return;
    const lines = system.logOf(logged.process).filter(({ time }) => Date.parse(String(time)) >= appliedAt);
    const line = { level: "warn", dependency: logged.dependency, request_id: expect.any(String), cause: expect.any(String) };
    expect(lines).toContainEqual(expect.objectContaining(line));
  });
}

/** Answers that the table does not name, that came late, or that do not say when to try again. */
function wrongAnswers({ answers, atTimes = {}, slowestSeconds = 0 }: Drill, all: readonly Answer[]): readonly Answer[] {
  return all.filter(({ call, answer, ms, retryAfter }) => {
    const named = [...(answers[call] ?? []), ...(atTimes[call] ?? [])];
    if (answer !== "ok" && !named.includes(answer)) return true;
    if (answer.startsWith("503") && !((retryAfter ?? 0) > 0)) return true;
    return ms > Math.max(ANSWER_SECONDS_MAX[call], slowestSeconds) * 1_000 + LATE_MS;
  });
}

/** The figures from which docs/operations.md is written. */
function report({ fault, alert }: Drill, answers: readonly Answer[], ms: Readonly<Record<string, number>>): void {
  const seconds = (value: number): string => `${(value / 1_000).toFixed(1)} s`;
  const calls = [...Map.groupBy(answers, ({ call, answer }) => `${call} ${answer}`)].map(([what, of]) => {
    const waits = new Set(of.flatMap(({ retryAfter }) => retryAfter ?? []));
    return `${what} × ${of.length} (slowest ${seconds(Math.max(...of.map((each) => each.ms)))}${waits.size > 0 ? `, Retry-After ${[...waits].join(" ")}` : ""})`;
  });
  const { firing = 0, good = 0, delivered = 0, over = 0 } = ms;
  process.stdout.write(
    `${fault}: ${alert} fires after ${seconds(firing)}; healed: good after ${seconds(good)}, all delivered after ${seconds(delivered)}, alert over after ${seconds(over)}\n` +
      calls
        .toSorted()
        .map((line) => `  ${line}\n`)
        .join(""),
  );
}
