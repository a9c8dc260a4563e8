import { randomBytes } from "node:crypto";
import { withToken } from "@brand-records/testkit";
import type { Identity } from "../src/domain/sign-in.ts";
import type { Identify } from "../src/id-tokens/identify.ts";

interface Claims extends Identity {
  readonly email: string;
}

/** A sign-in for tests of what follows it: its ID token is the claims, which `believeClaims` reads. */
export const claimed = (claims: Claims): ReturnType<typeof withToken> => withToken(JSON.stringify(claims));

export const believeClaims: Identify = async ({ idToken }) => {
  const { issuer, subject, email } = JSON.parse(idToken) as Claims;
  return {
    issuer,
    subject,
    idTokenUse: { hash: randomBytes(32), expiresAt: new Date(Date.now() + 600_000) },
    readEmail: async () => ({ email, emailVerified: true, trustEmail: false }),
  };
};
