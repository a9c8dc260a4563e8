import { setTimeout as pause } from "node:timers/promises";

/**
 * Waits for a connection to close, no longer than this, and not for its success: brokers that are gone say no goodbye,
 * and nothing is left to be done about it.
 */
export async function within(milliseconds: number, closing: Promise<unknown>): Promise<void> {
  const enough = new AbortController();
  const patience = pause(milliseconds, undefined, { signal: enough.signal, ref: false }).catch(() => {});
  await Promise.race([closing.catch(() => {}), patience]);
  enough.abort();
}
