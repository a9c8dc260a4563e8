import * as client from "openid-client";
import type { ConsoleConfig } from "../config.ts";
import type { Attempt } from "./attempts.ts";
import { ProviderMismatch } from "./failures.ts";

/** A bound for each request to the provider. A sign-in makes up to four, and the gateway waits 20 s. */
const REQUEST_SECONDS_MAX = 4;
/** Then what the provider says about its endpoints is read again. */
const DISCOVERY_MS = 60 * 60 * 1_000;
/** Tolerance between the clocks of the provider and this host. */
const CLOCK_SKEW_SECONDS = 30;

/** What a provider knows about the person who has signed in there. */
export interface ProviderIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | undefined;
  /** Undefined if the issuer omits the claim. */
  readonly email_verified: boolean | undefined;
  /** Needed for signing out at the provider. */
  readonly idToken: string;
}

export interface SignInProvider {
  /** Shown to people. */
  readonly name: string;
  readonly issuer: string;
  /** Returns where the person signs in. @param asksForAccount lets the person change the account that the provider remembers */
  authorizationUrl(attempt: Attempt, asksForAccount: boolean): Promise<URL>;
  /**
   * Exchanges the code of the provider's response for the identity of who has signed in.
   *
   * @param response the parameters with which the browser has come back
   */
  identify(response: URLSearchParams, attempt: Attempt): Promise<ProviderIdentity>;
  /** Returns where the person signs out; undefined if the provider has no such place. */
  signOutUrl(idToken: string | undefined): Promise<URL | undefined>;
}

/** Returns undefined if none is configured. Talks to the provider only when someone signs in: its absence stops nothing else. */
export function openProvider(config: ConsoleConfig): SignInProvider | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret, PUBLIC_URL } = config;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  const discover = discovery(new URL(issuer), clientId, clientSecret);
  const callbackUrl = `${PUBLIC_URL}/auth/callback`;
  return {
    name: config.OIDC_NAME ?? new URL(issuer).host,
    issuer,
    async authorizationUrl({ state, nonce, verifier }, asksForAccount) {
      const provider = await discover();
      return client.buildAuthorizationUrl(provider, {
        redirect_uri: callbackUrl,
        scope: "openid email",
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        ...(asksForAccount && { prompt: accountPrompt(provider.serverMetadata()) }),
      });
    },
    async identify(response, { state, nonce, verifier }) {
      const provider = await discover();
      // Built from PUBLIC_URL, never from the request: openid-client derives redirect_uri from it.
      const tokens = await client.authorizationCodeGrant(provider, new URL(`${callbackUrl}?${response.toString()}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const idClaims = tokens.claims();
      if (idClaims === undefined || tokens.id_token === undefined) throw new Error("the checked response has no ID token");
      const hasUserInfo = provider.serverMetadata().userinfo_endpoint !== undefined;
      const userInfo = hasUserInfo ? await client.fetchUserInfo(provider, tokens.access_token, idClaims.sub) : idClaims;
      const { iss, sub } = idClaims;
      return { issuer: iss, subject: sub, ...emailClaims(userInfo.email === undefined ? idClaims : userInfo), idToken: tokens.id_token };
    },
    async signOutUrl(idToken) {
      const provider = await discover();
      if (provider.serverMetadata().end_session_endpoint === undefined) return undefined;
      const parameters = { post_logout_redirect_uri: `${PUBLIC_URL}/sign-in`, ...(idToken !== undefined && { id_token_hint: idToken }) };
      return client.buildEndSessionUrl(provider, parameters);
    },
  };
}

/** Every provider knows `login`, except Google, which does not list what it knows. */
function accountPrompt({ issuer, prompt_values_supported: supported }: client.ServerMetadata): string {
  const known = Array.isArray(supported) ? supported : issuer === "https://accounts.google.com" ? ["select_account"] : [];
  return known.includes("select_account") ? "select_account" : "login";
}

/** Both from one source: an address is verified only by who sends it. */
function emailClaims(claims: Readonly<Record<string, unknown>>): Pick<ProviderIdentity, "email" | "email_verified"> {
  const { email, email_verified: isVerified } = claims;
  return {
    email: typeof email === "string" ? email : undefined,
    // Only `true` is true, and what is present is not omitted: some issuers send text.
    email_verified: isVerified === undefined || isVerified === null ? undefined : isVerified === true,
  };
}

/** Returns what reads the provider's configuration at the first call and keeps it; a failure is not kept. */
function discovery(issuer: URL, clientId: string, clientSecret: string): () => Promise<client.Configuration> {
  let current: { readonly configuration: Promise<client.Configuration>; readonly endsAt: number } | undefined;
  return () => {
    if (current !== undefined && current.endsAt > Date.now()) return current.configuration;
    const found = { configuration: discoverOnce(issuer, clientId, clientSecret), endsAt: Date.now() + DISCOVERY_MS };
    current = found;
    found.configuration.catch(() => {
      if (current === found) current = undefined;
    });
    return found.configuration;
  };
}

async function discoverOnce(issuer: URL, clientId: string, clientSecret: string): Promise<client.Configuration> {
  const extensions = [client.enableNonRepudiationChecks, ...(issuer.protocol === "http:" ? [client.allowInsecureRequests] : [])];
  const metadata = { [client.clockTolerance]: CLOCK_SKEW_SECONDS };
  const options = { execute: extensions, timeout: REQUEST_SECONDS_MAX };
  const configuration = await client.discovery(issuer, clientId, metadata, authenticate(clientSecret), options).catch(rethrowMismatch);
  // openid-client lets Microsoft's hosts name another issuer than was asked for: `common` would let every company's accounts in.
  const named = configuration.serverMetadata().issuer;
  if (new URL(named).href !== issuer.href) throw new ProviderMismatch(named);
  return configuration;
}

function rethrowMismatch(error: unknown): never {
  if (!(error instanceof client.ClientError) || error.code !== "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED") throw error;
  throw new ProviderMismatch(String((error.cause as { readonly body?: { readonly issuer?: unknown } } | undefined)?.body?.issuer));
}

/** Authenticates this service as providers expect it without further settings: by Basic, unless they accept only the other form. */
function authenticate(clientSecret: string): client.ClientAuth {
  const [basic, post] = [client.ClientSecretBasic(clientSecret), client.ClientSecretPost(clientSecret)];
  return (server, registration, body, headers) => {
    const { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] } = server;
    (methods.includes("client_secret_basic") ? basic : post)(server, registration, body, headers);
  };
}
