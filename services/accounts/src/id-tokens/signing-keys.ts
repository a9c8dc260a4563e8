import { PROVIDER_SECONDS_MAX, type Provider } from "@brand-records/identity";
import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from "jose";

/**
 * The keys are read again for a token with an unknown key, but not more often than this: a console that was taken over could have accounts
 * flood the provider otherwise. A provider that uses a new key within this time of the last reading loses sign-ins until then.
 */
const REREAD_MS = 10_000;

/** The provider's keys cannot be had: it does not respond, or not with keys. */
export class SigningKeysUnavailable extends Error {
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
