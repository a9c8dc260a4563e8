import { PRINCIPAL_TTL_MS } from "@brand-records/redis";
import type { EpochPublisher } from "./epoch-publisher.ts";
import { reachGateways } from "./reach-gateways.ts";

/** Refuses until told otherwise. */
class AwayBoard implements EpochPublisher {
  isAway = true;
  attempts = 0;

  async publish(): Promise<boolean> {
    this.attempts += 1;
    return !this.isAway;
  }
}

let board: AwayBoard;
let isDone: boolean;
beforeEach(() => {
  jest.useFakeTimers();
  board = new AwayBoard();
  isDone = false;
  void reachGateways(board, "brd_1", 2).then(() => void (isDone = true));
});
afterEach(() => jest.useRealTimers());

it("resolves with the first publication that succeeds, however many failed", async () => {
  await jest.advanceTimersByTimeAsync(10_000);
  expect(isDone).toBe(false);
  board.isAway = false;
  await jest.advanceTimersByTimeAsync(500);
  expect(isDone).toBe(true);
});

it("resolves without one only after what gateways may have cached has expired, and a second more", async () => {
  await jest.advanceTimersByTimeAsync(PRINCIPAL_TTL_MS + 999);
  expect(isDone).toBe(false);
  await jest.advanceTimersByTimeAsync(2);
  expect(isDone).toBe(true);
  expect(jest.getTimerCount()).toBe(0);
});

it("does not hammer a Redis that is away", async () => {
  await jest.advanceTimersByTimeAsync(PRINCIPAL_TTL_MS);
  expect(board.attempts).toBeLessThan(100);
});
