import { DRIVERS, PREPARE_MS_MAX, prepareDrivers } from "./drivers.ts";
import { run } from "./run-scripted.ts";
import { page, refusal } from "./scenarios.ts";

/** One promise, for real and by the clock: a server that refuses is left alone, and a deadline is kept within a second. */

const STORM_MS = 30_000;
const DEADLINE_MS = 4_000;

beforeAll(prepareDrivers, PREPARE_MS_MAX);

describe.each(DRIVERS)("$name", (driver) => {
  it.concurrent.each([undefined, "1", "120.5", "1e1", "2, 3", "0"])(
    "asks at most 8 times in 30 s a server that always responds 429 with Retry-After %j",
    async (time) => {
      const limited = refusal(429, "rate_limited", time === undefined ? {} : { "Retry-After": time });
      const { output, received } = await run(driver, [limited], { deadline_ms: STORM_MS + 10_000 });
      expect(output.error).toMatchObject({ code: "rate_limited" });
      const storm = received.filter(({ at }) => at - (received[0]?.at ?? 0) <= STORM_MS);
      expect(storm.length).toBeGreaterThanOrEqual(5);
      expect(storm.length).toBeLessThanOrEqual(8);
    },
  );

  it.concurrent.each(["stall", "storm"])("keeps a deadline within a second: %s", async (kind) => {
    const reply =
      kind === "stall" ? { ...page([]), cut: { after: 30, by: "stall" } as const } : refusal(429, "rate_limited", { "Retry-After": "1" });
    const { received } = await run(driver, [reply], { deadline_ms: DEADLINE_MS });
    expect(performance.now() - (received[0]?.at ?? 0)).toBeLessThan(DEADLINE_MS + 1_000);
  });
});
