import type { Stoppable } from "./lifecycle.ts";

/** Returned by `withTimeout` instead of a result. */
export const TIMED_OUT = Symbol("timed out");

/**
 * Settles as `work` does, or resolves to `TIMED_OUT` after `timeoutMs`. A timeout does not cancel the work, and a later rejection of
 * it is ignored.
 */
export async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T | typeof TIMED_OUT> {
  const timeout = Promise.withResolvers<typeof TIMED_OUT>();
  const timer = setTimeout(timeout.resolve, timeoutMs, TIMED_OUT);
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Bounds how long `stop` waits for a resource whose work may be interrupted at any point. Without the bound, a silent database would
 * delay the stop until the statement timeout.
 */
export function withStopTimeout(resource: Stoppable, timeoutMs: number): { stop(): Promise<void> } {
  return {
    async stop() {
      await withTimeout(Promise.resolve(resource.stop()), timeoutMs);
    },
  };
}

/**
 * Calls `expired` after `ms` unless cancelled, but first gives the event loop one turn to read its sockets. If our own loop is late, the
 * timer fires before the loop reads a reply that has already arrived. Without the extra turn, a pause of ours (a large JSON, a garbage
 * collection) would count as the other side's.
 *
 * @returns a function that cancels; may be called at any time, any number of times
 */
export function startReplyDeadline(ms: number, expired: () => void): () => void {
  let afterPoll: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    afterPoll = setImmediate(expired);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(afterPoll);
  };
}
