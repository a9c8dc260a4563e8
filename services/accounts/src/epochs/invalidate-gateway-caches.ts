import { Backoff } from "@brand-records/lifecycle";
import { PRINCIPAL_TTL_MS } from "@brand-records/redis";
import type { EpochPublisher } from "./epoch-publisher.ts";

/** Gateways trust a cached principal for PRINCIPAL_TTL_MS; one more second covers requests in flight and clock drift. */
export const CACHES_EXPIRE_AFTER_MS = PRINCIPAL_TTL_MS + 1_000;
const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 500;

/**
 * Resolves when no gateway trusts an older epoch of the brand: the new one is published, or everything cached before this
 * call has expired, which takes 31 s. Call it after the commit: inside the transaction it would hold the brand's row lock.
 */
export async function invalidateGatewayCaches(publisher: Pick<EpochPublisher, "publish">, brandId: string, epoch: number): Promise<void> {
  const expiredAt = performance.now() + CACHES_EXPIRE_AFTER_MS;
  const backoff = new Backoff(PAUSE_MS_MIN, PAUSE_MS_MAX);
  while (!(await publisher.publish(brandId, epoch))) {
    const remainingMs = expiredAt - performance.now();
    if (remainingMs <= 0) return;
    await pause(Math.min(backoff.next(), remainingMs));
  }
}

/** Does not keep a stopping process alive. */
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
