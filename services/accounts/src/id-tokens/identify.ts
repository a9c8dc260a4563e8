import { AppError } from "@brand-records/errors";
import { diagnoseProviderError, openDiscovery, type Provider, PROVIDER_SECONDS_MAX, readEmailClaims } from "@brand-records/identity";
import type { Clock } from "@brand-records/lifecycle";
import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from "jose";
import type { AccountsConfig } from "../config.ts";
import { type EmailClaims, type Identity, IdTokenRefused, type IdTokenUse } from "../domain/sign-in.ts";
import { type VerifiedIdToken, verifyIdToken } from "./verify-id-token.ts";

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

/**
 * The keys are read again for a token with an unknown key, but not more often than this: a console that was taken over could have accounts
 * flood the provider otherwise. A provider that uses a new key within this time of the last reading loses sign-ins until then.
 */
const REREAD_MS = 10_000;

/** The provider's keys cannot be had: it does not respond, or not with keys. */
class SigningKeysUnavailable extends Error {
  override readonly name = "SigningKeysUnavailable";
}

/** Returns what finds the key of a token among those of a provider, which are read at the first use and kept for ten minutes. */
export function openSigningKeys(): (provider: Provider) => JWTVerifyGetKey {
  let current: { readonly url: string; readonly find: JWTVerifyGetKey } | undefined;
  return (provider) => {
    const { jwks_uri: url, issuer } = provider.serverMetadata();
    if (url === undefined) throw new SigningKeysUnavailable("the provider's configuration has no jwks_uri");
    if (!url.startsWith("https:") && issuer.startsWith("https:")) throw new SigningKeysUnavailable("the provider's jwks_uri is not https");
    if (current?.url !== url) current = { url, find: finderAt(new URL(url)) };
    return current.find;
  };
}

function finderAt(url: URL): JWTVerifyGetKey {
  const find = createRemoteJWKSet(url, { timeoutDuration: PROVIDER_SECONDS_MAX * 1_000, cooldownDuration: REREAD_MS });
  return async (header, token) => {
    try {
      return await find(header, token);
    } catch (error) {
      if (ABOUT_THE_TOKEN.some((kind) => error instanceof kind)) throw error;
      throw new SigningKeysUnavailable(causeOf(error));
    }
  };
}

const ABOUT_THE_TOKEN = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];

/** The message of jose is constant; of what `fetch` throws, the code of its cause says more. */
function causeOf(error: unknown): string {
  if (error instanceof errors.JOSEError) return error.message;
  const { cause, name } = error as { readonly cause?: NodeJS.ErrnoException; readonly name?: string };
  return cause?.code ?? cause?.name ?? name ?? "unknown";
}
