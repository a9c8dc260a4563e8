import { setTimeout as pause } from "node:timers/promises";
import { Backoff, withFullJitter } from "@brand-records/lifecycle";
import { openDatabaseSession } from "./database-session.ts";

/** The server ends the connection of a frozen process after this long. */
const IDLE_TIMEOUT_MS = 30_000;
const RECONNECT_MS_MIN = 100;
const RECONNECT_MS_MAX = 10_000;

interface NotifierOptions {
  readonly url: string;
  readonly applicationName: string;
  /**
   * Callbacks for NOTIFY, by channel. Each is also called after every connect, because notifications sent without a
   * connection are lost.
   */
  readonly subscriptions: Readonly<Record<string, () => void>>;
  /** Called when the connection is lost or refused. The notifier reconnects; until then callers must poll. */
  onDisconnect(error: unknown): void;
  /** Default: `RECONNECTING`. */
  readonly reconnecting?: Reconnecting;
}

/** Time and chance of the pauses before the notifier connects again. */
interface Reconnecting {
  /** Returns a number from 0 to 1. */
  random(): number;
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

const RECONNECTING: Reconnecting = { random: Math.random, pause: (ms, signal) => pause(ms, undefined, { signal }) };

/** LISTENs on one connection for all subscriptions, and reconnects until it is stopped. */
export function startNotifier({ url, applicationName, subscriptions, onDisconnect, reconnecting = RECONNECTING }: NotifierOptions): {
  stop(): Promise<void>;
} {
  const backoff = new Backoff(RECONNECT_MS_MIN, RECONNECT_MS_MAX);
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

  const listenUntilEnd = async (): Promise<void> => {
    const session = await openDatabaseSession({ url, applicationName, idleTimeoutMs: IDLE_TIMEOUT_MS });
    const listening = async (): Promise<void> => {
      for (const [channel, onNotify] of Object.entries(subscriptions)) {
        await session.listen(channel, onNotify);
        onNotify();
      }
      backoff.reset();
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
      // A restarted server ends the connections of all processes at once.
      await reconnecting.pause(withFullJitter(backoff.next(), reconnecting.random()), signal).catch(() => {});
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
