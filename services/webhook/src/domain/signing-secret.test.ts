import { randomBytes } from "node:crypto";
import { newSigningSecret, openSigningSecret, sealSigningSecret } from "./signing-secret.ts";

const key = (id: number) => ({ id, bytes: randomBytes(32) });

it("is whsec_ and 32 bytes in base64", () => {
  expect(newSigningSecret(Buffer.alloc(32, 0xff))).toBe(`whsec_${"/".repeat(42)}8=`);
  const secret = newSigningSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(Buffer.from(secret.slice(6), "base64")).toHaveLength(32);
  expect(new Set(Array.from({ length: 1_000 }, () => newSigningSecret())).size).toBe(1_000);
});

it("is sealed under the newest key, and opens while that key is configured", () => {
  const [three, two, one] = [key(3), key(2), key(1)];
  const secret = newSigningSecret();
  const sealed = sealSigningSecret(two, "rcv_1", secret);
  expect(sealed.keyId).toBe(2);
  expect(openSigningSecret([two, one], "rcv_1", sealed)).toBe(secret);
  expect(openSigningSecret([three, two], "rcv_1", sealed)).toBe(secret);
});
