/** A backing service that a test freezes, kills and starts again. It ends with the process that started it. */
export interface ControlledServer {
  /** Process id of the current run, or of the last one; 0 before the first start. */
  readonly pid: number;
  /** Keeps its connections and accepts more, but responds to nothing (SIGSTOP). */
  freeze(): Promise<void>;
  /** Responds again, also to what arrived while it was frozen. */
  thaw(): Promise<void>;
  /** Ends it as a power cut would (SIGKILL). Resolves when its port is closed. */
  kill(): Promise<void>;
  /** Starts it for the first time or after `kill`, always on the same port. Resolves when it is ready. */
  start(): Promise<void>;
  /** Ends it and removes its data. Callable any number of times, in any state. */
  stop(): Promise<void>;
}

/** Another process may take the free port first. */
const START_ATTEMPTS_MAX = 5;

/** Starts what `reserve` returns; after a failure stops it and tries the next, up to five times. */
export async function startReserved<T extends ControlledServer>(reserve: () => T | Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const server = await reserve();
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.stop();
      if (attempt === START_ATTEMPTS_MAX) throw error;
    }
  }
}
