import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import { AppError } from "@brand-records/errors";
import { errors, jwtVerify, SignJWT } from "jose";

/** How long a grant is valid: longer than a call and what it writes afterwards. */
export const GRANT_SECONDS = 60;

/** The services that take grants. A grant for one proves nothing to another. */
export const GRANT_AUDIENCES = ["accounts", "plans", "webhook"] as const;
export type GrantAudience = (typeof GRANT_AUDIENCES)[number];

/** In which session a call is made, as accounts knew it when it signed the grant. */
export interface Grant {
  /** The person. */
  readonly email: string;
  /** The owner whose link opened the session; null as `limitedTo` is. */
  readonly via: string | null;
  /** The one brand that the session opens; null: every brand of the person. */
  readonly limitedTo: string | null;
  /** SHA-256 of the session's token, in base64url. */
  readonly session: string;
  /** The brand of the call, and what the person is in it; null for a call of none. */
  readonly brand: { readonly id: string; readonly role: "owner" | "member" } | null;
  /** From where the person calls, as the console says. */
  readonly client: { readonly address: string | null; readonly browser: string | null };
}

/** Grants that accounts 1.0 has signed do not say. */
const NOWHERE: Grant["client"] = { address: null, browser: null };

/** What the header and the claims of every grant say. */
const TYPE = "grant+jwt";
const ALGORITHM = "HS256";
const ISSUER = "accounts";

const KEY_BYTES = 32;

/** A key that signs grants and verifies them: accounts does both, and no other process has one. */
export interface GrantKey {
  /** Names the key in the headers of grants. */
  readonly id: string;
  readonly secret: KeyObject;
}

/** Derives a key from a secret of 32 bytes or more, so that every process with the secret has the same key and none is stored. */
export function grantKeyFrom(id: string, secret: Uint8Array): GrantKey {
  const bytes = hkdfSync("sha256", secret, "", "brand-records accounts: grants", KEY_BYTES);
  return { id, secret: createSecretKey(Buffer.from(bytes)) };
}

/** Returns a compact JWT. */
export function signGrant(
  { email, via, limitedTo, session, brand, client }: Grant,
  audience: GrantAudience,
  { id, secret }: GrantKey,
  now = new Date(),
): Promise<string> {
  const issuedAt = Math.floor(now.getTime() / 1_000);
  return new SignJWT({ via, limited_to: limitedTo, sid: session, brand, client })
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: id })
    .setIssuer(ISSUER)
    .setAudience(audience)
    .setSubject(email)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + GRANT_SECONDS)
    .sign(secret);
}

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
    const { sub = "", via = null, limited_to: limitedTo = null, sid, brand = null, client = NOWHERE } = payload as Record<string, unknown>;
    return { email: sub, via, limitedTo, session: sid, brand, client } as Grant;
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
