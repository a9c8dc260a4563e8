import type { Stoppable } from "./lifecycle.ts";

/**
 * Does a piece of work now, and again each time after a pause, until it is stopped. Stopped while it is under way, `stop`
 * resolves when it is done.
 *
 * @param work must not reject: what went wrong is its own to tell, and the next time tries again
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
