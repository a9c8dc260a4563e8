import { randomUUID } from "node:crypto";
import fc from "fast-check";
import type { RateLimiter, Verdict } from "../src/limits/rate-limiter.ts";

/** A limiter whose time a test can move. */
export interface Harness {
  readonly limiter: RateLimiter;
  /** Milliseconds on the clock of the windows, as far as one can tell from outside. */
  now(): number;
  /** Makes everything that has happened `ms` older. */
  advance(ms: number): Promise<void>;
  holdsStateOf(brandId: string): Promise<boolean>;
  stop(): Promise<void>;
}

/** A verdict, and the moments between which it was reached. */
interface Decision {
  readonly verdict: Verdict;
  readonly before: number;
  readonly after: number;
}

const MINUTE_MS = 60_000;

/** `seconds`, told with `now`, is rounded up and lasts until `accepted` has left the window. */
function expectSecondsUntilLeaving(accepted: Decision, now: Decision, seconds: number): void {
  expect(seconds).toBeGreaterThanOrEqual(Math.ceil((accepted.before + MINUTE_MS - now.after) / 1_000));
  expect(seconds).toBeLessThanOrEqual(Math.ceil((accepted.after + MINUTE_MS - now.before) / 1_000));
}

/** What every rate limiter guarantees. `open` starts one that holds nothing about the brands of this run. */
export function describeRateLimiter(name: string, open: () => Promise<Harness>): void {
  describe(`rate limiter, ${name}`, () => {
    let harness: Harness;
    let brandId: string;
    const spendAll = (limit: number, times: number, brand = brandId): Promise<Verdict[]> =>
      Promise.all(Array.from({ length: times }, () => harness.limiter.spend({ brandId: brand, limit, epoch: 1, fresh: true })));
    /** How many of so many requests that come at once are admitted. */
    const admitted = async (limit: number, times: number): Promise<number> =>
      (await spendAll(limit, times)).filter(({ kind }) => kind === "admitted").length;
    /** One request, and between which moments it was decided. Where the clock stands still they are the same. */
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

    it("admits exactly 60 of a burst of 100, one after the other", async () => {
      const kinds: string[] = [];
      for (let i = 0; i < 100; i += 1) kinds.push((await spend(60)).verdict.kind);
      expect(kinds).toEqual([...Array(60).fill("admitted"), ...Array(40).fill("refused")]);
    });

    it("admits exactly the limit of 200 that come at once", async () => {
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

    it("charges nothing for what it refuses", async () => {
      await spendAll(60, 30);
      await harness.advance(30_000);
      expect(await admitted(60, 1_000)).toBe(30);
      await harness.advance(30_000);
      expect(await admitted(60, 1_000)).toBe(30);
      await harness.advance(30_000);
      expect(await admitted(60, 1_000)).toBe(30);
    });

    it("admits whoever waits out exactly the seconds it was told, and nobody five seconds earlier", async () => {
      const first = await expectAdmitted(60, 59);
      await spendAll(60, 59);
      await harness.advance(17_500);
      const seconds = await expectRefused(60, first);
      await harness.advance((seconds - 5) * 1_000);
      await expectRefused(60, first);
      await harness.advance(5_000);
      expect((await spend(60)).verdict.kind).toBe("admitted");
    });

    it("says what remains, and when the oldest accepted request leaves", async () => {
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

    it("applies a lower limit to what was accepted before, and names the wait under the lower one", async () => {
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
      // 39 have left a second later at the latest, 20 stay for another ten.
      await harness.advance(1_000);
      expect(await admitted(60, 100)).toBe(39);
    });

    it("opens the slots of a higher limit at once", async () => {
      expect(await admitted(60, 100)).toBe(60);
      expect(await admitted(120, 100)).toBe(60);
      expect(await admitted(240, 200)).toBe(120);
    });

    it("forgets nothing of the window when the limit goes down and up again", async () => {
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

    it("keeps nothing of a brand that has been idle", async () => {
      await spendAll(240, 240);
      expect(await harness.holdsStateOf(brandId)).toBe(true);
      await harness.advance(90_000);
      expect(await harness.holdsStateOf(brandId)).toBe(false);
    });

    it("never admits more than the limit in any 60 seconds, and refuses nothing below it, on any schedule", async () => {
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
            const surelyInWindow = accepted.filter(({ before }) => decision.after - before < MINUTE_MS).length;
            const perhapsInWindow = accepted.filter(({ after }) => decision.before - after < MINUTE_MS).length;
            const forced = surelyInWindow >= current ? "refused" : perhapsInWindow < current ? "admitted" : undefined;
            expect(decision.verdict.kind).toBe(forced ?? decision.verdict.kind);
            if (decision.verdict.kind === "admitted") accepted.push(decision);
          }
        }),
        { numRuns: 100 },
      );
    });
  });
}
