import { setTimeout as pause } from "node:timers/promises";
import { isDisturbed } from "../harness/foreign-cores.ts";
import { quantile } from "../harness/statistics.ts";
import { readCounters, resetCounters, waitForCount } from "./database-state.ts";
import type { WebhookProduct } from "./product.ts";
import type { Behavior, Receivers } from "./receivers.ts";
import { RATE_TIME_MAX, RECEIVERS } from "./settings.ts";

interface SteadyOptions extends Pace {
  readonly behavior?: Partial<Behavior>;
  /** Runs beside the changes, from the first one on. */
  readonly meanwhile?: () => Promise<void>;
}

export interface Steady {
  /** Time from change to arrival. */
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** p99 of the events created in each second. */
  readonly p99_ms_by_second: readonly (number | null)[];
  readonly longest_claim_ms: number;
  /** The platform's commits: what the disk and the CPU leave to every transaction. */
  readonly commit_p99_ms: number;
  readonly seconds: number;
  /** Events that did not arrive in time. */
  readonly missing: number;
  readonly foreign_cores: number;
  /** Requests a second, by receiver, until the last measured one. */
  readonly arrived_per_second: readonly number[];
  /** Requests by receiver. */
  readonly arrived: readonly number[];
  /** Why the phase is not to be trusted. */
  readonly doubts: readonly string[];
}

/** Without a further arrival for this long, the rest is missing. */
const STUCK_MS = 30_000;

/** Commits changes at a steady rate, each in its own transaction, and measures the time to their arrival. */
export async function steady(product: WebhookProduct, receivers: Receivers, options: SteadyOptions): Promise<Steady> {
  const { behavior = {}, meanwhile = async () => {}, ...pace } = options;
  await receivers.begin(behavior);
  await resetCounters(product.client);
  const foreignCores = await product.watchForeign();
  const startedAtMs = Date.now();
  const startedAt = performance.now();
  const [paced] = await Promise.all([callAtPace(pace, (number) => product.outbox.change(number % RECEIVERS)), meanwhile()]);
  const foreign_cores = await foreignCores();
  const { longestClaimMs } = await readCounters(product.client);
  const expected = measuredOf(pace, behavior);
  await waitForCount(async () => (await receivers.count()).measured, expected, STUCK_MS);
  const arrivals = await receivers.report();
  const observedSeconds = (performance.now() - startedAt) / 1_000;
  const missing = Math.max(0, expected - arrivals.latenciesMs.length);
  return {
    p50_ms: percentile(arrivals.latenciesMs, 0.5) ?? Number.NaN,
    p99_ms: percentile(arrivals.latenciesMs, 0.99) ?? Number.NaN,
    p99_ms_by_second: p99BySecond(arrivals, startedAtMs),
    longest_claim_ms: longestClaimMs,
    commit_p99_ms: percentile(paced.callsMs, 0.99) ?? Number.NaN,
    seconds: paced.seconds,
    missing,
    foreign_cores,
    arrived_per_second: arrivals.arrived.map((count) => count / observedSeconds),
    arrived: arrivals.arrived,
    doubts: doubtsAbout({ pace, seconds: paced.seconds, missing, foreign_cores }),
  };
}

/** Returns how many of the changes are for measured receivers. They take turns. */
function measuredOf({ perSecond, seconds }: Pace, { unmeasured = [] }: Partial<Behavior>): number {
  const left = new Set(unmeasured);
  return Array.from({ length: perSecond * seconds }, (_, number) => number % RECEIVERS).filter((receiver) => !left.has(receiver)).length;
}

interface Circumstances {
  readonly pace: Pace;
  readonly seconds: number;
  readonly missing: number;
  readonly foreign_cores: number;
}

/** Names what makes a phase's latencies those of another load. */
export function doubtsAbout({ pace, seconds, missing, foreign_cores }: Circumstances): string[] {
  const doubts: string[] = [];
  if (seconds > RATE_TIME_MAX * pace.seconds) {
    doubts.push(`its ${pace.seconds} s of changes took ${seconds.toFixed(1)} s: the disk or the CPU is busy`);
  }
  if (missing > 0) doubts.push(`${missing} events did not arrive within ${STUCK_MS / 1_000} s`);
  if (isDisturbed({ foreign_cores })) doubts.push(`other programs used ${foreign_cores.toFixed(2)} cores`);
  return doubts;
}

interface Pace {
  readonly perSecond: number;
  readonly seconds: number;
}

interface Paced {
  /** Until the last call ended. */
  readonly seconds: number;
  /** Time of each call. */
  readonly callsMs: readonly number[];
}

/** Makes each call at its time, whether those before have ended or not: a slow one delays no other. */
export async function callAtPace({ perSecond, seconds }: Pace, call: (number: number) => Promise<void>): Promise<Paced> {
  const startedAt = performance.now();
  const callsMs: number[] = [];
  const timed = async (number: number): Promise<void> => {
    const calledAt = performance.now();
    await call(number);
    callsMs.push(performance.now() - calledAt);
  };
  const calls: Promise<void>[] = [];
  for (let number = 0; number < perSecond * seconds; number += 1) {
    calls.push(timed(number));
    const early = ((number + 1) / perSecond) * 1_000 - (performance.now() - startedAt);
    if (early > 1) await pause(early);
  }
  await Promise.all(calls);
  return { seconds: (performance.now() - startedAt) / 1_000, callsMs };
}

/** Returns the p99 of the events created in each second since `startedAtMs`; null for a second without any. */
export function p99BySecond(
  { createdAtMs, latenciesMs }: { readonly createdAtMs: readonly number[]; readonly latenciesMs: readonly number[] },
  startedAtMs: number,
): (number | null)[] {
  const seconds: number[][] = [];
  for (const [index, createdAt] of createdAtMs.entries()) {
    // created_at is rounded to milliseconds: it may lie before the start.
    const second = Math.max(0, Math.floor((createdAt - startedAtMs) / 1_000));
    (seconds[second] ??= []).push(latenciesMs[index] ?? Number.NaN);
  }
  return Array.from(seconds, (latencies: number[] | undefined) => (latencies === undefined ? null : percentile(latencies, 0.99)));
}

/** Returns null for an empty list. */
export function percentile(values: readonly number[], q: number): number | null {
  return values.length === 0
    ? null
    : quantile(
        values.toSorted((a, b) => a - b),
        q,
      );
}
