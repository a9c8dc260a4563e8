import { PRINCIPAL_TTL_MS } from "@brand-records/redis";
import type { EpochPublisher } from "./epoch-publisher.ts";

/** Gateways trust what they cached for PRINCIPAL_TTL_MS; the second more is for requests under way and clocks that run apart. */
const FORGOTTEN_AFTER_MS = PRINCIPAL_TTL_MS + 1_000;
const PAUSE_MS = 50;
const PAUSE_MS_MAX = 500;

/**
 * Resolves when no gateway believes an older epoch of the brand: the new one is published, or whatever was cached before this
 * call has expired everywhere, which takes 31 s. Call it after the commit, never in the transaction, whose row lock it would hold.
 */
export async function reachGateways(board: EpochPublisher, brandId: string, epoch: number): Promise<void> {
  const forgottenAt = performance.now() + FORGOTTEN_AFTER_MS;
  let pauseMs = PAUSE_MS;
  while (!(await board.publish(brandId, epoch))) {
    const remainingMs = forgottenAt - performance.now();
    if (remainingMs <= 0) return;
    await pause(Math.min(pauseMs, remainingMs));
    pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
  }
}

/** Keeps no stopping process alive. */
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
