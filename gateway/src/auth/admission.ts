import type { KeyEnvironment } from "@brand-records/api-key";
import type { CallContext } from "@brand-records/rpc";
import type { RateLimiter, Verdict } from "../limits/rate-limiter.ts";
import { keyDigestFrom } from "./authorization-header.ts";
import { requireIntegratingBrand, type Principal, type Tier } from "./principal.ts";
import type { Verifier } from "./verifier.ts";

/** Accepted requests in any 60 seconds, by tier. */
export type TierLimits = Readonly<Record<Exclude<Tier, "starter">, number>>;

export interface AdmissionParts {
  readonly environment: KeyEnvironment;
  readonly verifier: Verifier;
  readonly limiter: RateLimiter;
  readonly tierLimits: TierLimits;
}

export interface Admission {
  readonly principal: Principal;
  readonly verdict: Exclude<Verdict, { kind: "stale" }>;
}

/** Assistants may open a connection for any brand and learn from a tool's answer why there is nothing to read. */
export type AdmittedBrands = "integrating" | "any";

/**
 * Key, brand state, rate limit: in this order, for every request under /api.
 *
 * A remembered principal costs one round trip, the limiter's, which also compares the brand's epoch. If the epoch moved
 * (or nobody can tell), nothing was spent, accounts are asked, and what they say is acted on: it was read after this
 * request came, so a revocation that was answered before the request is always seen.
 *
 * @throws AppError 401 and 403 kinds; being over the limit is a verdict, not an error
 */
export async function admit(
  parts: AdmissionParts,
  rawHeaders: readonly string[],
  context: CallContext,
  brands: AdmittedBrands = "integrating",
): Promise<Admission> {
  const keyDigest = keyDigestFrom(rawHeaders, parts.environment);

  const remembered = parts.verifier.remembered(keyDigest);
  if (remembered !== undefined) {
    const verdict = await spend(parts, remembered, false);
    if (verdict.kind !== "stale") return { principal: remembered, verdict };
  }

  const principal = await parts.verifier.verify(keyDigest, context);
  if (brands === "integrating") requireIntegratingBrand(principal);
  const verdict = await spend(parts, principal, true);
  if (verdict.kind === "stale") throw new Error("the limiter must decide on a fresh principal");
  return { principal, verdict };
}

function spend({ limiter, tierLimits }: AdmissionParts, principal: Principal, fresh: boolean): Promise<Verdict> {
  const limit = principal.tier === "starter" ? tierLimits.plus : tierLimits[principal.tier];
  return limiter.spend({ brandId: principal.brand_id, limit, epoch: principal.epoch, fresh });
}
