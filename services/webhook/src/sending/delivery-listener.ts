import { setTimeout as pause } from "node:timers/promises";
import { openSession } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";

/** The server ends a session that asks nothing for so long. */
const IDLE_MS = 30_000;
const RETRY_MS = 1_000;

export interface ListenerOptions {
  readonly databaseUrl: string;
  readonly log: Logger;
  /** There are new deliveries. */
  told(): void;
}

/** Hears of new deliveries from whoever adds them; without it they would wait for the next poll. Connects by itself, until it is stopped. */
export function listenForDeliveries({ databaseUrl, log, told }: ListenerOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

  const listenOnce = async (): Promise<void> => {
    const session = await openSession({
      url: databaseUrl,
      applicationName: "webhook listener",
      idleTimeoutMs: IDLE_MS,
      onNotification: told,
    });
    const asking = setInterval(() => void session.query("select 1").catch(() => {}), IDLE_MS / 3);
    const listening = async (): Promise<void> => {
      await session.query("listen webhook_deliveries");
      // What came before is found by looking.
      told();
      await session.ended;
    };
    try {
      await Promise.race([listening(), stopped]);
    } finally {
      clearInterval(asking);
      await session.stop().catch(() => {});
    }
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await listenOnce().catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error }, "nobody tells of new deliveries: polling");
      });
      await pause(RETRY_MS, undefined, { signal }).catch(() => {});
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
