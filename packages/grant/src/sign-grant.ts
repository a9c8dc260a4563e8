import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import { ALGORITHM, GRANT_SECONDS, ISSUER, TYPE, type Grant, type GrantAudience } from "./grant.ts";

/** DER of an Ed25519 private key in PKCS #8, up to its 32 bytes (RFC 8410). */
const PKCS8_START = Buffer.from("302e020100300506032b657004220420", "hex");
const KEY_BYTES = 32;

/** A key that signs grants. */
export interface SigningKey {
  /** Names the key in the headers of grants. */
  readonly id: string;
  readonly privateKey: KeyObject;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
}

/** Derives a key from a secret of 32 bytes or more, so that every process with the secret has the same key and none is stored. */
export function signingKeyFrom(id: string, secret: Uint8Array): SigningKey {
  const seed = Buffer.from(hkdfSync("sha256", secret, "", "brand-records accounts: grants", KEY_BYTES));
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_START, seed]), format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(privateKey).export({ format: "der", type: "spki" }).subarray(-KEY_BYTES);
  return { id, privateKey, publicKey };
}

/** Returns a compact JWT. */
export function signGrant(
  { email, via, limitedTo, session, brand }: Grant,
  audience: GrantAudience,
  { id, privateKey }: SigningKey,
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
    .sign(privateKey);
}
