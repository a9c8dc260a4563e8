import { Counter, type Registry } from "@brand-records/telemetry";
import type { RateLimiter, Verdict } from "./rate-limiter.ts";

/** Counts every decision of a limiter by its verdict. */
export function countDecisions(limiter: RateLimiter, metrics: Registry): RateLimiter {
  const decisions = new Counter({
    name: "rate_limiter_decisions_total",
    help: "Decisions on requests, by verdict. After stale, the key is verified and the limiter decides again.",
    labelNames: ["verdict"],
    registers: [metrics],
  });
  const of = (verdict: Verdict["kind"]): Counter.Internal => decisions.labels({ verdict });
  const byVerdict: Record<Verdict["kind"], Counter.Internal> = { admitted: of("admitted"), refused: of("refused"), stale: of("stale") };
  for (const counter of Object.values(byVerdict)) counter.inc(0);
  return {
    async spend(spend) {
      const verdict = await limiter.spend(spend);
      byVerdict[verdict.kind].inc();
      return verdict;
    },
    stop: () => limiter.stop(),
  };
}
