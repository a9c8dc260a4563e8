import { AppError } from "@brand-records/errors";

/** Tests of a receiver: enough to try it by hand, too few to load a server with someone else's requests. */
export const TESTS_MAX = 10;
/** Length of a window; the limit holds in any stretch of it. */
export const TESTS_SECONDS = 60;

/** The tests of a receiver in the last `TESTS_SECONDS`. */
export interface RecentTests {
  readonly count: number;
  /** Time until there is one fewer; 0 without any. */
  readonly seconds_left: number;
}

/** @throws AppError `rate_limited` if the receiver has had as many as it may */
export function requireRoomForTest({ count, seconds_left }: RecentTests): void {
  if (count < TESTS_MAX) return;
  const retryAfterSeconds = Math.max(1, Math.ceil(seconds_left));
  const message = `A receiver gets at most ${TESTS_MAX} tests in ${TESTS_SECONDS} seconds. Wait ${retryAfterSeconds} s, then send it again.`;
  throw new AppError("rate_limited", message, { retryAfterSeconds });
}
