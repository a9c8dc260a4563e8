import { randomBytes } from "node:crypto";
import { seal, SealBroken, unseal, type SecretKey, type SecretKeys } from "./secret-keys.ts";

const SECRET_BYTES = 32;

/** Returns a secret that signs deliveries to a receiver: `whsec_` and base64 of 32 random bytes, as in Standard Webhooks. */
export function newSigningSecret(random: Buffer = randomBytes(SECRET_BYTES)): string {
  return `whsec_${random.toString("base64")}`;
}

/** A signing secret as it is stored. */
export interface SealedSecret {
  readonly sealed: Buffer;
  readonly keyId: number;
}

export function sealSigningSecret(key: SecretKey, receiverId: string, secret: string): SealedSecret {
  return { sealed: seal(key, receiverId, secret), keyId: key.id };
}

/** @throws SealBroken, also if its key is not configured */
export function openSigningSecret(keys: SecretKeys, receiverId: string, { sealed, keyId }: SealedSecret): string {
  const key = keys.find(({ id }) => id === keyId);
  if (key === undefined) throw new SealBroken(keyId, `the secret of ${receiverId} is sealed under key ${keyId}, which is not configured`);
  return unseal(key, receiverId, sealed);
}
