import type { Stoppable } from "./lifecycle.ts";

/**
 * Runs `work` immediately, and again after each pause until stopped. `stop` waits for work in progress.
 *
 * @param work must not reject: it reports its own failures, and the next round tries again
 */
export function repeat(work: () => Promise<void>, pauseMs: number): Stoppable & { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const round = async (): Promise<void> => {
    await work();
    if (!stopped) timer = setTimeout(() => void (running = round()), pauseMs);
  };
  let running = round();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
