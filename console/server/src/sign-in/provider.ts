import { openDiscovery } from "@brand-records/identity";
import * as client from "openid-client";
import type { ConsoleConfig } from "../config.ts";
import type { Attempt } from "./attempts.ts";

/** By what accounts verifies who has signed in at the provider. */
export interface ProviderTokens {
  /** Needed for signing out at the provider, too. */
  readonly idToken: string;
  readonly accessToken: string;
}

export interface SignInProvider {
  /** Shown to people. */
  readonly name: string;
  readonly issuer: string;
  /** Returns where the person signs in. @param asksForAccount lets the person change the account that the provider remembers */
  authorizationUrl(attempt: Attempt, asksForAccount: boolean): Promise<URL>;
  /**
   * Exchanges the code of the provider's response for the tokens of who has signed in.
   *
   * @param response the parameters with which the browser has come back
   */
  exchangeCode(response: URLSearchParams, attempt: Attempt): Promise<ProviderTokens>;
  /** Returns where the person signs out; undefined if the provider has no such place. */
  signOutUrl(idToken: string | undefined): Promise<URL | undefined>;
}

/** Returns undefined if none is configured. Talks to the provider only when someone signs in: its absence stops nothing else. */
export function openProvider(config: ConsoleConfig): SignInProvider | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret, PUBLIC_URL } = config;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  const discover = openDiscovery({ issuer, clientId, authenticate: authenticate(clientSecret) });
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
    async exchangeCode(response, { state, nonce, verifier }) {
      const provider = await discover();
      // Built from PUBLIC_URL, never from the request: openid-client derives redirect_uri from it.
      const tokens = await client.authorizationCodeGrant(provider, new URL(`${callbackUrl}?${response.toString()}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      if (tokens.id_token === undefined) throw new Error("the checked response has no ID token");
      return { idToken: tokens.id_token, accessToken: tokens.access_token };
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

/** Authenticates this service as providers expect it without further settings: by Basic, unless they accept only the other form. */
function authenticate(clientSecret: string): client.ClientAuth {
  const [basic, post] = [client.ClientSecretBasic(clientSecret), client.ClientSecretPost(clientSecret)];
  return (server, registration, body, headers) => {
    const { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] } = server;
    (methods.includes("client_secret_basic") ? basic : post)(server, registration, body, headers);
  };
}
