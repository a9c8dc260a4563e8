import { createPublicKey, type KeyObject } from "node:crypto";
import { AppError } from "@brand-records/errors";
import { errors, jwtVerify } from "jose";
import { ALGORITHM, GRANT_SECONDS, ISSUER, TYPE, type Grant, type GrantAudience } from "./grant.ts";

/** DER of an Ed25519 public key, up to its 32 bytes (RFC 8410). */
const SPKI_START = Buffer.from("302a300506032b6570032100", "hex");
/** Tolerance between the clocks of accounts and this host. */
const CLOCK_SKEW_SECONDS = 10;

/** Finds the public key of an id. @throws AppError `unavailable` if it is not known at the moment */
export type FindKey = (id: string) => KeyObject | Promise<KeyObject>;

/** @param bytes Ed25519, 32 bytes */
export const publicKeyFrom = (bytes: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([SPKI_START, bytes]), format: "der", type: "spki" });

export interface Verification {
  /** The oldest that the grant may be, if that is less than its 60 s. */
  readonly maxAgeSeconds?: number;
  readonly now?: Date;
}

/**
 * Returns what a grant says, if accounts has signed it for this audience.
 *
 * @throws AppError `timeout` after its 60 s, or its greatest age; `invalid_session` for what is no grant, of another audience, or signed
 * by others, without saying which
 */
export async function verifyGrant(
  grant: string,
  audience: GrantAudience,
  findKey: FindKey,
  { maxAgeSeconds = GRANT_SECONDS, now = new Date() }: Verification = {},
): Promise<Grant> {
  try {
    const { payload } = await jwtVerify(grant, ({ kid = "" }) => findKey(kid), {
      algorithms: [ALGORITHM],
      typ: TYPE,
      issuer: ISSUER,
      audience,
      clockTolerance: CLOCK_SKEW_SECONDS,
      currentDate: now,
      maxTokenAge: maxAgeSeconds,
      requiredClaims: ["sub", "exp", "sid"],
    });
    const { sub = "", via = null, limited_to: limitedTo = null, sid, brand = null } = payload as Record<string, unknown>;
    return { email: sub, via, limitedTo, session: sid, brand } as Grant;
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw new AppError("timeout", "The request took too long. Try again.", { cause: error });
    if (error instanceof errors.JOSEError) throw new AppError("invalid_session", "You are signed out. Sign in again.", { cause: error });
    throw error;
  }
}
