import { setTimeout as pause } from "node:timers/promises";

export interface Pace {
  readonly perSecond: number;
  readonly seconds: number;
}

export interface Paced {
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
