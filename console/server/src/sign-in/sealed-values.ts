import { hkdfSync } from "node:crypto";
import { EncryptJWT, errors, jwtDecrypt } from "jose";

/** Values that only this deployment's consoles can read and make, such as those of cookies. */
interface SealedValues<Value extends object> {
  seal(value: Value, ttlSeconds: number, now?: Date): Promise<string>;
  /** Returns undefined for a value that was changed, or that no console of this deployment sealed for the purpose. */
  open(sealed: string, now?: Date): Promise<{ readonly value: Value; readonly isExpired: boolean } | undefined>;
}

/**
 * Every console derives the same key from the provider's client secret, which they share already. One more secret to make, keep and
 * rotate would protect nothing else. Changing it ends the sign-ins under way.
 *
 * @param purpose gives each kind of value a key of its own
 */
export function sealedValues<Value extends object>(clientSecret: string, purpose: string): SealedValues<Value> {
  const key = new Uint8Array(hkdfSync("sha256", clientSecret, "", `brand-records console: ${purpose}`, 32));
  const algorithms = { keyManagementAlgorithms: ["dir"], contentEncryptionAlgorithms: ["A256GCM"] };
  return {
    seal: (value, ttlSeconds, now = new Date()) =>
      new EncryptJWT({ value })
        .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
        .setExpirationTime(new Date(now.getTime() + ttlSeconds * 1_000))
        .encrypt(key),
    async open(sealed, now = new Date()) {
      try {
        const { payload } = await jwtDecrypt(sealed, key, { ...algorithms, requiredClaims: ["exp"], currentDate: now });
        return { value: payload["value"] as Value, isExpired: false };
      } catch (error) {
        if (error instanceof errors.JWTExpired) return { value: error.payload["value"] as Value, isExpired: true };
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}
