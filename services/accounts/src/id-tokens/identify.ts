import { AppError } from "@brand-records/errors";
import { diagnoseProviderError, openDiscovery, readEmailClaims, type Provider } from "@brand-records/identity";
import type { Clock } from "@brand-records/lifecycle";
import type { AccountsConfig } from "../config.ts";
import { IdTokenRefused, type EmailClaims, type Identity, type IdTokenUse } from "../domain/sign-in.ts";
import { openSigningKeys, SigningKeysUnavailable } from "./signing-keys.ts";
import { verifyIdToken, type VerifiedIdToken } from "./verify-id-token.ts";

/** What the console has from the provider for a person who has signed in there. Secrets: never logged, traced or stored. */
export interface SignInProof {
  readonly idToken: string;
  /** The nonce of the attempt. */
  readonly nonce: string;
  readonly accessToken: string | undefined;
}

/** An identity that a provider has proved. */
export interface IdentitySignIn extends Identity {
  readonly idTokenUse: IdTokenUse;
  /**
   * Returns what the provider says about the address. Needed for an unbound identity alone, because it may ask the provider.
   *
   * @throws AppError `unavailable`, `invalid_id_token`
   */
  readEmail(): Promise<EmailClaims>;
}

/**
 * Returns the identity that an ID token proves, which accounts verifies itself. Contacts the provider at the first call.
 *
 * @throws IdTokenRefused
 * @throws AppError `unavailable` if accounts has no provider or cannot reach it
 */
export type Identify = (proof: SignInProof) => Promise<IdentitySignIn>;

export function openIdentify(
  { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_TRUST_EMAIL }: ProviderSettings,
  clock: Clock = Date,
): Identify {
  if (issuer === undefined || clientId === undefined) return () => Promise.reject(unavailable("OIDC_ISSUER is not set for accounts"));
  const discover = openDiscovery({ issuer, clientId });
  const signingKeys = openSigningKeys();
  const trustEmail = OIDC_TRUST_EMAIL === "true";
  return async ({ idToken, nonce, accessToken }) => {
    const provider = await discover().catch(rethrowUnavailable);
    const { claims, use } = await verify(provider, idToken, { clientId, nonce, signingKeys, now: new Date(clock.now()) });
    return {
      issuer: claims.iss,
      subject: claims.sub,
      idTokenUse: use,
      async readEmail() {
        const { email, email_verified: emailVerified } = await readEmailClaims(provider, claims, accessToken).catch(rethrowUserInfo);
        return { email, emailVerified, trustEmail };
      },
    };
  };
}

type ProviderSettings = Pick<AccountsConfig, "OIDC_ISSUER" | "OIDC_CLIENT_ID" | "OIDC_TRUST_EMAIL">;

interface Verification {
  readonly now: Date;
  readonly clientId: string;
  readonly nonce: string;
  readonly signingKeys: ReturnType<typeof openSigningKeys>;
}

async function verify(provider: Provider, idToken: string, { clientId, nonce, signingKeys, now }: Verification): Promise<VerifiedIdToken> {
  const { issuer, id_token_signing_alg_values_supported: algorithms } = provider.serverMetadata();
  try {
    return await verifyIdToken(idToken, { issuer, clientId, nonce, algorithms, findKey: signingKeys(provider) }, now);
  } catch (error) {
    throw error instanceof SigningKeysUnavailable ? notReached(error.message) : error;
  }
}

/** Userinfo of another subject, or one that refuses the access token, is what the console has sent. */
function rethrowUserInfo(error: unknown): never {
  const diagnosis = diagnoseProviderError(error);
  if (diagnosis === undefined) throw error;
  if (diagnosis.failure === "provider_unreachable") throw notReached(diagnosis.fields.cause);
  throw new IdTokenRefused("userinfo", { cause: new Error(diagnosis.fields.cause) });
}

function rethrowUnavailable(error: unknown): never {
  const diagnosis = diagnoseProviderError(error);
  if (diagnosis === undefined) throw error;
  const { cause, provider_issuer: named } = diagnosis.fields;
  throw notReached(named === undefined ? cause : `${cause}: ${named}`);
}

const notReached = (cause: string): AppError => unavailable(`accounts could not reach OIDC_ISSUER, or not use its response: ${cause}`);

/** @param cause for the log: holds nothing of a token or a person */
const unavailable = (cause: string): AppError =>
  new AppError("unavailable", "The sign-in provider cannot be asked at the moment. Try again shortly.", {
    cause: new Error(cause),
    dependency: "openid_provider",
  });
