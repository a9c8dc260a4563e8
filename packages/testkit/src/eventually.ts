export interface EventuallyOptions {
  readonly timeoutMs?: number;
  readonly everyMs?: number;
}

/**
 * What `check` returns, as soon as it does not throw. At the deadline the last error is thrown, so a test that fails says
 * what was still wrong rather than that time ran out.
 */
export async function eventually<T>(check: () => T | Promise<T>, { timeoutMs = 10_000, everyMs = 20 }: EventuallyOptions = {}): Promise<T> {
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
