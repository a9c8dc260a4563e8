import { randomUUID } from "node:crypto";
import fc from "fast-check";
import type { RateLimiter, Verdict } from "../src/limits/rate-limiter.ts";

/** A limiter whose clock a test can advance. */
export interface Harness {
  readonly limiter: RateLimiter;
  /** The limiter's clock in milliseconds, as precisely as it is observable. */
  now(): number;
  /** Makes every accepted request `ms` older. */
  advance(ms: number): Promise<void>;
  holdsStateOf(brandId: string): Promise<boolean>;
  stop(): Promise<void>;
}

/** A verdict, and the times just before and after it. */
interface Decision {
  readonly verdict: Verdict;
  readonly before: number;
  readonly after: number;
}

const MINUTE_MS = 60_000;

/** Expects `seconds`, which `now` reported, to be the time until `accepted` leaves the window, rounded up. */
function expectSecondsUntilLeaving(accepted: Decision, now: Decision, seconds: number): void {
  expect(seconds).toBeGreaterThanOrEqual(Math.ceil((accepted.before + MINUTE_MS - now.after) / 1_000));
  expect(seconds).toBeLessThanOrEqual(Math.ceil((accepted.after + MINUTE_MS - now.before) / 1_000));
}

/** The guarantees of every rate limiter. `open` starts one without state for the brands of this run. */
export function describeRateLimiter(name: string, open: () => Promise<Harness>): void {
  describe(`rate limiter, ${name}`, () => {
    let harness: Harness;
    let brandId: string;
    const spendAll = (limit: number, times: number, brand = brandId): Promise<Verdict[]> =>
      Promise.all(Array.from({ length: times }, () => harness.limiter.spend({ brandId: brand, limit, epoch: 1, fresh: true })));
    /** The number of admitted requests among `times` concurrent ones. */
    const admitted = async (limit: number, times: number): Promise<number> =>
      (await spendAll(limit, times)).filter(({ kind }) => kind === "admitted").length;
    /** Sends one request. Both times are equal on a clock that only `advance` moves. */
    const spend = async (limit: number): Promise<Decision> => {
      const before = harness.now();
      const verdict = await harness.limiter.spend({ brandId, limit, epoch: 1, fresh: true });
      return { verdict, before, after: harness.now() };
    };
    const expectAdmitted = async (limit: number, remaining: number, oldest?: Decision): Promise<Decision> => {
      const decision = await spend(limit);
      expect(decision.verdict).toEqual({ kind: "admitted", limit, remaining, resetSeconds: expect.any(Number) });
      if (decision.verdict.kind === "admitted") expectSecondsUntilLeaving(oldest ?? decision, decision, decision.verdict.resetSeconds);
      return decision;
    };
    /** @returns the seconds to wait until `decisive` has left */
    const expectRefused = async (limit: number, decisive: Decision): Promise<number> => {
      const decision = await spend(limit);
      expect(decision.verdict).toEqual({ kind: "refused", limit, retryAfterSeconds: expect.any(Number) });
      if (decision.verdict.kind !== "refused") return 0;
      expectSecondsUntilLeaving(decisive, decision, decision.verdict.retryAfterSeconds);
      return decision.verdict.retryAfterSeconds;
    };

    beforeAll(async () => {
      harness = await open();
    });
    beforeEach(() => {
      brandId = `brd_${randomUUID()}`;
    });
    afterAll(() => harness.stop());

    it("admits exactly the limit of 200 concurrent requests", async () => {
      expect(await admitted(120, 200)).toBe(120);
    });

    it("refuses the 61st however the first 60 were spread, which clock windows and token buckets do not", async () => {
      const first = await expectAdmitted(60, 59);
      for (let i = 1; i < 60; i += 1) {
        await harness.advance(700);
        await expectAdmitted(60, 59 - i, first);
      }
      await harness.advance((await expectRefused(60, first)) * 1_000);
      expect((await spend(60)).verdict.kind).toBe("admitted");
    });

    it("does not count refused requests", async () => {
      await spendAll(60, 30);
      await harness.advance(30_000);
      expect(await admitted(60, 1_000)).toBe(30);
      await harness.advance(30_000);
      expect(await admitted(60, 1_000)).toBe(30);
      await harness.advance(30_000);
      expect(await admitted(60, 1_000)).toBe(30);
    });

    it("admits a client that waits exactly the reported seconds, and refuses it five seconds earlier", async () => {
      const first = await expectAdmitted(60, 59);
      await spendAll(60, 59);
      await harness.advance(17_500);
      const seconds = await expectRefused(60, first);
      await harness.advance((seconds - 5) * 1_000);
      await expectRefused(60, first);
      await harness.advance(5_000);
      expect((await spend(60)).verdict.kind).toBe("admitted");
    });

    it("reports the remaining requests, and when the oldest accepted one leaves the window", async () => {
      const first = await expectAdmitted(60, 59);
      await harness.advance(20_500);
      const second = await expectAdmitted(60, 58, first);
      await harness.advance(20_500);
      await expectAdmitted(60, 57, first);
      await harness.advance(20_000);
      await expectAdmitted(60, 57, second);
      await harness.advance(MINUTE_MS);
      await expectAdmitted(60, 59);
    });

    it("applies a lower limit to requests accepted before, and reports the wait under the lower limit", async () => {
      await spendAll(120, 60);
      await harness.advance(10_500);
      const sixtiethNewest = await spend(120);
      await spendAll(120, 39);
      await harness.advance(10_000);
      await spendAll(120, 20);
      await harness.advance(((await expectRefused(60, sixtiethNewest)) - 5) * 1_000);
      await expectRefused(60, sixtiethNewest);
      await harness.advance(5_000);
      expect((await spend(60)).verdict.kind).toBe("admitted");
      // At most a second later 39 have left; 20 stay for another ten seconds.
      await harness.advance(1_000);
      expect(await admitted(60, 100)).toBe(39);
    });

    it("keeps the whole window when the limit goes down and up again", async () => {
      expect(await admitted(120, 100)).toBe(100);
      await harness.advance(30_000);
      expect(await admitted(60, 10)).toBe(0);
      expect(await admitted(120, 100)).toBe(20);
      await harness.advance(30_000);
      expect(await admitted(60, 100)).toBe(40);
      expect(await admitted(120, 100)).toBe(60);
    });

    it("keeps brands apart", async () => {
      expect(await admitted(60, 100)).toBe(60);
      const [others] = await spendAll(60, 1, `brd_${randomUUID()}`);
      expect(others).toMatchObject({ kind: "admitted", remaining: 59 });
      expect((await spend(60)).verdict.kind).toBe("refused");
    });

    it("keeps no state of an idle brand", async () => {
      await spendAll(240, 240);
      expect(await harness.holdsStateOf(brandId)).toBe(true);
      await harness.advance(90_000);
      expect(await harness.holdsStateOf(brandId)).toBe(false);
    });

    it("never admits more than the limit in any 60 seconds and never refuses below it, on any schedule", async () => {
      const limit = fc.integer({ min: 1, max: 12 });
      const gapMs = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2_000 }), fc.integer({ min: 1, max: 65_000 }));
      const request = fc.record({ gapMs, limit: fc.option(limit, { nil: undefined, freq: 10 }) });
      const schedule = fc.tuple(limit, fc.array(request, { minLength: 1, maxLength: 60 }));

      await fc.assert(
        fc.asyncProperty(schedule, async ([firstLimit, requests]) => {
          brandId = `brd_${randomUUID()}`;
          const accepted: Decision[] = [];
          let current = firstLimit;
          for (const { gapMs: gap, limit: changed } of requests) {
            current = changed ?? current;
            if (gap > 0) await harness.advance(gap);
            const decision = await spend(current);
            const certainlyInWindow = accepted.filter(({ before }) => decision.after - before < MINUTE_MS).length;
            const possiblyInWindow = accepted.filter(({ after }) => decision.before - after < MINUTE_MS).length;
            const forced = certainlyInWindow >= current ? "refused" : possiblyInWindow < current ? "admitted" : undefined;
            expect(decision.verdict.kind).toBe(forced ?? decision.verdict.kind);
            if (decision.verdict.kind === "admitted") accepted.push(decision);
          }
        }),
        { numRuns: 100 },
      );
    });
  });
}
