import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import { ALGORITHM, GRANT_SECONDS, ISSUER, TYPE, type Grant, type GrantAudience } from "./grant.ts";

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
  { email, via, limitedTo, session, brand }: Grant,
  audience: GrantAudience,
  { id, secret }: GrantKey,
  now = new Date(),
): Promise<string> {
  const issuedAt = Math.floor(now.getTime() / 1_000);
  return new SignJWT({ via, limited_to: limitedTo, sid: session, brand })
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: id })
    .setIssuer(ISSUER)
    .setAudience(audience)
    .setSubject(email)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + GRANT_SECONDS)
    .sign(secret);
}
