import { AuthorizationResponseError, ClientError, ResponseBodyError, WWWAuthenticateChallengeError } from "openid-client";
import { ProviderMismatch } from "./discovery.ts";

/** Codes of openid-client for a provider that does not respond as one, such as a proxy's error page. */
const NO_RESPONSE: ReadonlySet<string> = new Set([
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_PARSE_ERROR",
]);

export interface ProviderDiagnosis {
  readonly failure: "access_denied" | "invalid_response" | "provider_error" | "provider_unreachable";
  /** Text for the log. Names the cause without a token, a code or anything about the person. */
  readonly fields: { readonly cause: string; readonly code?: string; readonly provider_issuer?: string; readonly provider_status?: number };
}

/**
 * Explains an error of a request to the provider; undefined for any other. Errors of openid-client hold the query, responses and claims as
 * causes: only their codes and constant messages are used.
 */
export function diagnoseProviderError(error: unknown): ProviderDiagnosis | undefined {
  if (error instanceof AuthorizationResponseError) {
    return { failure: error.error === "access_denied" ? "access_denied" : "provider_error", fields: { cause: nameOnly(error.error) } };
  }
  if (error instanceof ResponseBodyError) {
    const failure = error.status >= 500 ? "provider_unreachable" : error.error === "invalid_grant" ? "invalid_response" : "provider_error";
    return { failure, fields: { cause: nameOnly(error.error), provider_status: error.status } };
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    return { failure: "provider_error", fields: { cause: "challenge", provider_status: error.status } };
  }
  if (error instanceof ProviderMismatch) {
    return { failure: "provider_error", fields: { cause: error.message, provider_issuer: error.issuer } };
  }
  const noResponse = causeOfNoResponse(error);
  if (noResponse !== undefined) return { failure: "provider_unreachable", fields: { cause: noResponse } };
  if (error instanceof ClientError) {
    const code = error.code ?? "";
    const failure = NO_RESPONSE.has(code) ? "provider_unreachable" : "invalid_response";
    return { failure, fields: { cause: [error.message, ...causeOf(error)].join(": "), code } };
  }
  return undefined;
}

/**
 * Returns why no response came: the code in what `fetch` throws then, a TypeError. openid-client wraps one of another realm, which jest's
 * sandbox makes of every one.
 */
function causeOfNoResponse(error: unknown): string | undefined {
  const thrown = (error instanceof ClientError && error.code === undefined ? error.cause : error) as Partial<Error> | undefined;
  const cause = thrown?.cause as Partial<NodeJS.ErrnoException> | undefined;
  return thrown?.name === "TypeError" ? (cause?.code ?? cause?.name) : undefined;
}

/** The provider's error code, unless it holds anything else. */
const nameOnly = (code: string): string => (/^[a-z_]{1,60}$/.test(code) ? code : "unnamed error");

/** Which check failed: openid-client wraps the error that says so, whose message is constant too. Errors of JSON.parse quote their input. */
const causeOf = ({ cause }: Error): string[] =>
  cause instanceof Error && String((cause as NodeJS.ErrnoException).code).startsWith("OAUTH_") ? [cause.message] : [];
