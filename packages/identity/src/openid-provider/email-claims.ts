import { ClientError, fetchUserInfo } from "openid-client";
import type { Provider } from "./discovery.ts";

/** What a provider says about a person's address. */
export interface ProviderEmail {
  readonly email: string | undefined;
  /** Undefined if the issuer omits the claim. */
  readonly email_verified: boolean | undefined;
}

/**
 * Returns what the provider says about the address of an ID token's person: by its userinfo endpoint, if it has one and there is an access
 * token; by the ID token otherwise, and where userinfo names no address.
 *
 * @param idClaims of an ID token that was verified
 * @throws what openid-client throws, also if userinfo is about another subject
 */
export async function readEmailClaims(
  provider: Provider,
  idClaims: Readonly<Record<string, unknown>> & { readonly sub: string },
  accessToken: string | undefined,
): Promise<ProviderEmail> {
  const asks = accessToken !== undefined && provider.serverMetadata().userinfo_endpoint !== undefined;
  // `fetch` would quote the whole token in its error, which is logged. RFC 6749, A.12.
  if (asks && !/^[ -~]+$/.test(accessToken)) throw new ClientError("the access token holds characters that no token may");
  const userInfo = asks ? await fetchUserInfo(provider, accessToken, idClaims.sub) : idClaims;
  return emailOf(userInfo["email"] === undefined ? idClaims : userInfo);
}

/** Both from one source: an address is verified only by who sends it. */
function emailOf({ email, email_verified: isVerified }: Readonly<Record<string, unknown>>): ProviderEmail {
  return {
    email: typeof email === "string" ? email : undefined,
    // Only `true` is true, and what is present is not omitted: some issuers send text.
    email_verified: isVerified === undefined || isVerified === null ? undefined : isVerified === true,
  };
}
