import { hash, timingSafeEqual } from "node:crypto";
import { CLOCK_SKEW_SECONDS } from "@brand-records/identity";
import { errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from "jose";
import { IdTokenRefused, type IdTokenCheck, type IdTokenUse } from "../domain/sign-in.ts";

/** A sign-in lives so long in the console, and asks for its ID token at the end. */
const ID_TOKEN_SECONDS_MAX = 10 * 60;
/** Some providers list a person's groups in it. */
const ID_TOKEN_CHARACTERS_MAX = 65_536;
/** Those with a public key. With HS256 the key would be the client secret, which accounts does not have; with `none` anyone signs. */
const ASYMMETRIC = new Set(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]);

/** What an ID token must be. */
export interface ExpectedIdToken {
  /** As the provider's configuration names it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly nonce: string;
  /** What the provider signs with, by its configuration; undefined if it does not say. */
  readonly algorithms: readonly string[] | undefined;
  /** Finds the provider's key. Errors of jose from it that are about the token refuse the token; others are thrown as they are. */
  readonly findKey: JWTVerifyGetKey;
}

export interface VerifiedIdToken {
  readonly claims: JWTPayload & { readonly iss: string; readonly sub: string };
  readonly use: IdTokenUse;
}

/**
 * Returns the claims of an ID token that the provider has signed for this client and this attempt at most ten minutes ago (OpenID Connect
 * Core 3.1.3.7).
 *
 * @throws IdTokenRefused with the first check that fails
 */
export async function verifyIdToken(token: string, expected: ExpectedIdToken, now = new Date()): Promise<VerifiedIdToken> {
  if (token.length > ID_TOKEN_CHARACTERS_MAX) throw new IdTokenRefused("form");
  const { payload } = await jwtVerify(token, expected.findKey, {
    algorithms: (expected.algorithms ?? ["RS256"]).filter((name) => ASYMMETRIC.has(name)),
    issuer: expected.issuer,
    audience: expected.clientId,
    clockTolerance: CLOCK_SKEW_SECONDS,
    maxTokenAge: ID_TOKEN_SECONDS_MAX,
    requiredClaims: ["sub", "exp", "nonce"],
    currentDate: now,
  }).catch(rethrowRefused);
  const { iss, sub, aud, azp, nonce, iat = 0 } = payload;
  // A token for several clients names the one that asked for it: any of them could have passed it on.
  if ((Array.isArray(aud) && aud.length > 1) || azp !== undefined) if (azp !== expected.clientId) throw new IdTokenRefused("azp");
  if (!isSame(nonce, expected.nonce)) throw new IdTokenRefused("nonce");
  if (iss === undefined || typeof sub !== "string") throw new IdTokenRefused("form");
  return { claims: { ...payload, iss, sub }, use: { hash: hashOfSigned(token), expiresAt: lastAcceptedAfter(iat) } };
}

/** In constant time, as for any secret. */
const isSame = (claimed: unknown, expected: string): boolean =>
  typeof claimed === "string" && expected !== "" && timingSafeEqual(hash("sha256", claimed, "buffer"), hash("sha256", expected, "buffer"));

/**
 * The hash of what the provider has signed. Not of the whole token: base64url spells one signature in several ways, and of an ECDSA
 * signature anyone can make a second valid one, so that a used token would pass again.
 */
const hashOfSigned = (token: string): Buffer => hash("sha256", token.slice(0, token.lastIndexOf(".")), "buffer");

/** The skew counts twice: once for the provider's clock, once for the database's, by which the row is deleted. */
const lastAcceptedAfter = (issuedAt: number): Date => new Date((issuedAt + ID_TOKEN_SECONDS_MAX + 2 * CLOCK_SKEW_SECONDS) * 1_000);

function rethrowRefused(error: unknown): never {
  const check = checkOf(error);
  // Without the error as its cause: where JSON is malformed, that quotes it.
  throw check === undefined ? error : new IdTokenRefused(check);
}

/** Undefined for what is not about the token, such as a provider that cannot be reached. */
function checkOf(error: unknown): IdTokenCheck | undefined {
  if (error instanceof errors.JWTExpired) return error.claim === "iat" ? "older than 10 minutes" : "expired";
  if (error instanceof errors.JWTClaimValidationFailed)
    return error.reason === "missing" ? "missing claim" : (CLAIMS[error.claim] ?? "form");
  if (error instanceof errors.JOSEAlgNotAllowed) return "algorithm";
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) return "key";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "signature";
  const isForm = [errors.JWTInvalid, errors.JWSInvalid, errors.JOSENotSupported].some((kind) => error instanceof kind);
  return isForm ? "form" : undefined;
}

const CLAIMS: Readonly<Record<string, IdTokenCheck>> = { iss: "issuer", aud: "audience", nbf: "not yet valid", iat: "not yet valid" };
