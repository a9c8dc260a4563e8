import { describeRateLimiter } from "../../test/describe-rate-limiter.ts";
import { openRedisHarness } from "../../test/redis-harness.ts";
import { LocalLimiter } from "./open-limiter.ts";

describeRateLimiter("in process", async () => {
  jest.useFakeTimers({ doNotFake: ["setTimeout", "clearTimeout", "setImmediate", "nextTick", "queueMicrotask", "performance", "Date"] });
  let nowMs = 1_234.5; // Sums of halves are exact.
  const limiter = new LocalLimiter(() => nowMs);
  return {
    limiter,
    now: () => nowMs,
    advance: async (ms) => {
      nowMs += ms;
      jest.advanceTimersByTime(ms);
    },
    holdsStateOf: async () => limiter.size > 0,
    stop: async () => {
      limiter.stop();
      jest.useRealTimers();
    },
  };
});

describeRateLimiter("redis", () => openRedisHarness(process.env["TEST_REDIS_URL"]!));
