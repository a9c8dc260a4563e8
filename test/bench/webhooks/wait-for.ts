import { setTimeout as pause } from "node:timers/promises";

const POLL_MS = 50;

/**
 * Resolves once `read` returns `wanted` or more.
 *
 * @returns false if the number has not risen for `stuckMs`
 */
export async function waitForCount(read: () => Promise<number>, wanted: number, stuckMs: number): Promise<boolean> {
  let highest = Number.NEGATIVE_INFINITY;
  for (let risenAt = performance.now(); ; await pause(POLL_MS)) {
    const count = await read();
    if (count >= wanted) return true;
    if (count > highest) [highest, risenAt] = [count, performance.now()];
    if (performance.now() - risenAt > stuckMs) return false;
  }
}
