/** What timers take, 24 days: with more, they end at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

const startTimer = (onEnd: () => void, milliseconds: number) => setTimeout(onEnd, Math.min(milliseconds, TIMER_MS_MAX));

/** The end of a time that was given. */
export class TimeoutError extends Error {
  override readonly name = "TimeoutError";
}

/** Resolves after some milliseconds. @throws the signal's reason */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(reasonOf(signal));
    };
    const timer = startTimer(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/**
 * Runs work with a signal that aborts with the given one, or after some milliseconds. Rejects at that moment, also if the work ignores
 * its signal, as reading a body does in some runtimes.
 *
 * @throws TimeoutError after the time, the given signal's reason, or what the work throws
 */
export async function withTimeout<Result>(
  milliseconds: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(reasonOf(controller.signal)), { once: true });
    onAbort = () => controller.abort(reasonOf(signal));
  });
  const timer = startTimer(() => controller.abort(new TimeoutError(`none within ${Math.round(milliseconds)} ms`)), milliseconds);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work(controller.signal), aborted]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

const reasonOf = (signal: AbortSignal | undefined): Error => signal?.reason as Error;
