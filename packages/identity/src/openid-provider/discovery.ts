import * as client from "openid-client";

/** A bound for each request to the provider. A sign-in makes up to four by the console, and three by accounts. */
export const PROVIDER_SECONDS_MAX = 4;
/** Tolerance between the clocks of the provider and this host. */
export const CLOCK_SKEW_SECONDS = 30;
/** Then what the provider says about its endpoints is read again. */
const DISCOVERY_MS = 60 * 60 * 1_000;

/** A provider whose configuration was read. */
export type Provider = client.Configuration;

export interface Registration {
  /** As the provider writes it. */
  readonly issuer: string;
  readonly clientId: string;
  /** How this process proves that it is this client; absent in one that only verifies. */
  readonly authenticate?: client.ClientAuth;
}

/**
 * Returns what reads the provider's configuration at the first call and keeps it for an hour; a failure is not kept. Nothing is contacted
 * before: the provider's absence stops nothing else. The function throws ProviderMismatch, and errors that `diagnoseProviderError` explains.
 */
export function openDiscovery(registration: Registration): () => Promise<Provider> {
  let current: { readonly provider: Promise<Provider>; readonly endsAt: number } | undefined;
  return () => {
    if (current !== undefined && current.endsAt > Date.now()) return current.provider;
    const found = { provider: discoverOnce(registration), endsAt: Date.now() + DISCOVERY_MS };
    current = found;
    found.provider.catch(() => {
      if (current === found) current = undefined;
    });
    return found.provider;
  };
}

async function discoverOnce({ issuer, clientId, authenticate }: Registration): Promise<Provider> {
  const url = new URL(issuer);
  const extensions = [client.enableNonRepudiationChecks, ...(url.protocol === "http:" ? [client.allowInsecureRequests] : [])];
  const metadata = { [client.clockTolerance]: CLOCK_SKEW_SECONDS };
  const options = { execute: extensions, timeout: PROVIDER_SECONDS_MAX };
  const provider = await client.discovery(url, clientId, metadata, authenticate, options).catch(rethrowMismatch);
  // openid-client lets Microsoft's hosts name another issuer than was asked for: `common` would let every company's accounts in.
  const named = provider.serverMetadata().issuer;
  if (new URL(named).href !== url.href) throw new ProviderMismatch(named);
  return provider;
}

function rethrowMismatch(error: unknown): never {
  if (!(error instanceof client.ClientError) || error.code !== "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED") throw error;
  throw new ProviderMismatch(String((error.cause as { readonly body?: { readonly issuer?: unknown } } | undefined)?.body?.issuer));
}

/** The provider's configuration names another issuer than OIDC_ISSUER. */
export class ProviderMismatch extends Error {
  override readonly name = "ProviderMismatch";
  readonly issuer: string;

  constructor(issuer: string) {
    super("the provider names another issuer than OIDC_ISSUER");
    this.issuer = issuer;
  }
}
