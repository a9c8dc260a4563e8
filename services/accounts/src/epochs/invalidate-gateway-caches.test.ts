import { PRINCIPAL_TTL_MS } from "@brand-records/redis";
import type { EpochPublisher } from "./epoch-publisher.ts";
import { invalidateGatewayCaches } from "./invalidate-gateway-caches.ts";

/** Fails until a test sets isUnavailable to false. */
class UnavailablePublisher implements Pick<EpochPublisher, "publish"> {
  isUnavailable = true;
  attempts = 0;

  async publish(): Promise<boolean> {
    this.attempts += 1;
    return !this.isUnavailable;
  }
}

let publisher: UnavailablePublisher;
let isDone: boolean;
beforeEach(() => {
  jest.useFakeTimers();
  publisher = new UnavailablePublisher();
  isDone = false;
  void invalidateGatewayCaches(publisher, "brd_1", 2).then(() => void (isDone = true));
});
afterEach(() => jest.useRealTimers());

it("resolves with the first publication that succeeds, however many failed before", async () => {
  await jest.advanceTimersByTimeAsync(10_000);
  expect(isDone).toBe(false);
  publisher.isUnavailable = false;
  await jest.advanceTimersByTimeAsync(500);
  expect(isDone).toBe(true);
});

it("resolves without a publication one second after every cached principal has expired", async () => {
  await jest.advanceTimersByTimeAsync(PRINCIPAL_TTL_MS + 999);
  expect(isDone).toBe(false);
  await jest.advanceTimersByTimeAsync(2);
  expect(isDone).toBe(true);
  expect(jest.getTimerCount()).toBe(0);
});

it("publishes fewer than 100 times while Redis is unavailable", async () => {
  await jest.advanceTimersByTimeAsync(PRINCIPAL_TTL_MS);
  expect(publisher.attempts).toBeLessThan(100);
});
