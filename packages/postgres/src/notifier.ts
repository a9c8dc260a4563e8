import { setTimeout as pause } from "node:timers/promises";
import { openSession } from "./session.ts";

/** The server ends the connection of a frozen process after this long. */
const IDLE_TIMEOUT_MS = 30_000;
const RECONNECT_MS = 1_000;

export interface NotifierOptions {
  readonly url: string;
  readonly applicationName: string;
  /**
   * Callbacks for NOTIFY, by channel. Each is also called after every connect, because notifications sent without a
   * connection are lost.
   */
  readonly subscriptions: Readonly<Record<string, () => void>>;
  /** Called when the connection is lost or refused. The notifier retries every second; until then callers must poll. */
  onDisconnect(error: unknown): void;
}

/** LISTENs on one connection for all subscriptions, and reconnects until it is stopped. */
export function startNotifier({ url, applicationName, subscriptions, onDisconnect }: NotifierOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

  const listenUntilEnd = async (): Promise<void> => {
    const session = await openSession({ url, applicationName, idleTimeoutMs: IDLE_TIMEOUT_MS });
    const listening = async (): Promise<void> => {
      for (const [channel, onNotify] of Object.entries(subscriptions)) {
        await session.listen(channel, onNotify);
        onNotify();
      }
      await session.ended;
      throw new Error("the connection for notifications has ended");
    };
    try {
      await Promise.race([listening(), stopped]);
    } finally {
      // A lost connection needs no stop.
      await session.stop().catch(() => {});
    }
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await listenUntilEnd().catch((error: unknown) => {
        if (!signal.aborted) onDisconnect(error);
      });
      await pause(RECONNECT_MS, undefined, { signal }).catch(() => {});
    }
  };
  const running = run();

  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
