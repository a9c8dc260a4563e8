import { setTimeout as pause } from "node:timers/promises";

/** Whether the work is over, well or badly, within this time. It is not cut off; a rejection after that is ignored. */
export async function settlesWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const over = new AbortController();
  const settled = work.then(
    () => true,
    () => true,
  );
  const timeout = pause(milliseconds, false, { signal: over.signal }).catch(() => false);
  try {
    return await Promise.race([settled, timeout]);
  } finally {
    over.abort();
  }
}
