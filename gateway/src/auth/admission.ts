import type { KeyEnvironment } from "@brand-records/ids";
import type { CallContext } from "@brand-records/rpc";
import { startSpan } from "@brand-records/telemetry";
import type { RateLimiter, Spend, Verdict } from "../limits/rate-limiter.ts";
import { keyDigestFrom } from "./authorization-header.ts";
import { requireIntegratingBrand, type Principal, type Tier } from "./principal.ts";
import type { Verifier } from "./verifier.ts";

/** Requests accepted in any 60 seconds, by tier. */
export type TierLimits = Readonly<Record<Exclude<Tier, "starter">, number>>;

export interface AdmissionDependencies {
  readonly environment: KeyEnvironment;
  readonly verifier: Verifier;
  readonly limiter: RateLimiter;
  readonly tierLimits: TierLimits;
}

export interface Admission {
  readonly principal: Principal;
  readonly verdict: Exclude<Verdict, { kind: "stale" }>;
}

/** Assistants may connect for any brand: the result of their first call says why the brand cannot use its keys. */
export type AdmittedBrands = "integrating" | "any";

/**
 * Checks the key, the brand's state and the rate limit, in this order, for every request under /api.
 *
 * A cached principal costs one round trip, the limiter's, which also compares the brand's epoch. If the epoch differs
 * or is unknown, the limiter spends nothing and the key is verified at accounts. Accounts reads the principal after this
 * request arrived, so every revocation confirmed before the request takes effect.
 *
 * @param identified is called with the principal before its brand's state is checked: refused brands are named too
 * @throws AppError 401 and 403 kinds; being over the limit is a verdict, not an error
 */
export async function admit(
  deps: AdmissionDependencies,
  rawHeaders: readonly string[],
  context: CallContext,
  brands: AdmittedBrands,
  identified: (principal: Principal) => void,
): Promise<Admission> {
  const keyDigest = keyDigestFrom(rawHeaders, deps.environment);

  let mayBeCounted = false;
  const cached = deps.verifier.cached(keyDigest);
  if (cached !== undefined) {
    const verdict = await spend(deps, cached, { fresh: false }, context);
    if (verdict.kind !== "stale") {
      identified(cached);
      return { principal: cached, verdict };
    }
    mayBeCounted = verdict.mayBeCounted === true;
  }

  const principal = await deps.verifier.verify(keyDigest, context);
  identified(principal);
  if (brands === "integrating") requireIntegratingBrand(principal);
  const verdict = await spend(deps, principal, { fresh: true, mayBeCounted }, context);
  if (verdict.kind === "stale") throw new Error("the limiter must decide on a fresh principal");
  return { principal, verdict };
}

async function spend(
  { limiter, tierLimits }: AdmissionDependencies,
  principal: Principal,
  request: Pick<Spend, "fresh" | "mayBeCounted">,
  { traceparent }: CallContext,
): Promise<Verdict> {
  const limit = principal.tier === "starter" ? tierLimits.plus : tierLimits[principal.tier];
  const span = startSpan("check rate limit", traceparent, { kind: "internal" });
  try {
    return await limiter.spend({ brandId: principal.brand_id, limit, epoch: principal.epoch, ...request });
  } finally {
    span?.end();
  }
}
