interface EventuallyOptions {
  readonly timeoutMs?: number;
  readonly everyMs?: number;
}

/**
 * Calls `check` until it does not throw, and returns its result. At the deadline throws the last error, so a failing test
 * shows what was still wrong instead of a timeout. Default: every 20 ms, for 20 s.
 */
export async function eventually<T>(check: () => T | Promise<T>, { timeoutMs = 20_000, everyMs = 20 }: EventuallyOptions = {}): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() >= deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
