import type { KeyObject } from "node:crypto";
import { AppError } from "@brand-records/errors";
import { errors, jwtVerify } from "jose";
import { ALGORITHM, GRANT_SECONDS, ISSUER, TYPE, type Grant, type GrantAudience } from "./grant.ts";

/** Tolerance between what two processes of accounts take for the database's time. */
const CLOCK_SKEW_SECONDS = 10;

/** Finds the key of an id. @throws AppError `unavailable` if this process does not have it */
export type FindKey = (id: string) => KeyObject;

/**
 * Returns what a grant says, if accounts has signed it for this audience.
 *
 * @throws AppError `timeout` after its 60 s; `unavailable` if it comes from the future, because a clock is off; `invalid_session` for a
 * grant of another audience and for what is none or was signed or changed by others, without saying which
 */
export async function verifyGrant(grant: string, audience: GrantAudience, findKey: FindKey, now = new Date()): Promise<Grant> {
  try {
    const { payload } = await jwtVerify(grant, ({ kid = "" }) => findKey(kid), {
      algorithms: [ALGORITHM],
      typ: TYPE,
      issuer: ISSUER,
      audience,
      clockTolerance: CLOCK_SKEW_SECONDS,
      currentDate: now,
      maxTokenAge: GRANT_SECONDS,
      requiredClaims: ["sub", "exp", "sid"],
    });
    const { sub = "", via = null, limited_to: limitedTo = null, sid, brand = null } = payload as Record<string, unknown>;
    return { email: sub, via, limitedTo, session: sid, brand } as Grant;
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw new AppError("timeout", "The request took too long. Try again.", { cause: error });
    if (isFromFuture(error)) throw new AppError("unavailable", "The request cannot be checked at the moment. Try again.", { cause: error });
    if (error instanceof errors.JOSEError) throw new AppError("invalid_session", "You are signed out. Sign in again.", { cause: error });
    throw error;
  }
}

/** Whether a grant was signed in the future. The signature is good: jose checks it before any claim. */
const isFromFuture = (error: unknown): boolean =>
  error instanceof errors.JWTClaimValidationFailed && error.claim === "iat" && error.reason === "check_failed";
