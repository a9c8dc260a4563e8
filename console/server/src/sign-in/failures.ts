import type { SignInFailure } from "@brand-records/console-contract";
import { AppError } from "@brand-records/errors";
import { AuthorizationResponseError, ClientError, ResponseBodyError, WWWAuthenticateChallengeError } from "openid-client";

/** A sign-in cannot go on, for a reason that is known here. */
export class SignInError extends Error {
  override readonly name = "SignInError";
  readonly failure: SignInFailure;

  constructor(failure: SignInFailure) {
    super(failure);
    this.failure = failure;
  }
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

/** Codes of openid-client for a provider that does not respond as one, such as a proxy's error page. */
const NO_RESPONSE: ReadonlySet<string> = new Set([
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_PARSE_ERROR",
]);

const OWN_FAILURES: ReadonlySet<string> = new Set<SignInFailure>([
  "email_not_verified",
  "no_membership",
  "identity_conflict",
  "rate_limited",
]);

export interface Diagnosis {
  readonly failure: SignInFailure;
  /** Text for the log. Names the cause without a token, a code or anything about the person. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Explains an error of a sign-in. Errors of openid-client hold the query, responses and claims as causes: only their codes and constant
 * messages are used.
 */
export function diagnose(error: unknown): Diagnosis {
  if (error instanceof SignInError) return { failure: error.failure, fields: {} };
  if (error instanceof AppError) {
    const failure = OWN_FAILURES.has(error.kind) ? (error.kind as SignInFailure) : "unavailable";
    // What a service refuses as malformed comes from the provider, such as a subject with blanks.
    if (error.kind === "invalid_request") return { failure: "invalid_response", fields: { cause: error.message } };
    return { failure, fields: { cause: error.kind, ...(error.kind === "internal_error" && { err: error.cause }) } };
  }
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
  if (error instanceof ClientError) {
    const code = error.code ?? "";
    const failure = NO_RESPONSE.has(code) ? "provider_unreachable" : "invalid_response";
    return { failure, fields: { cause: [error.message, ...causeOf(error)].join(": "), code } };
  }
  // What `fetch` throws if no response comes.
  if (error instanceof TypeError && error.cause instanceof Error) {
    return { failure: "provider_unreachable", fields: { cause: (error.cause as NodeJS.ErrnoException).code ?? error.cause.name } };
  }
  return { failure: "unavailable", fields: { err: error } };
}

/** The provider's error code, unless it holds anything else. */
const nameOnly = (code: string): string => (/^[a-z_]{1,60}$/.test(code) ? code : "unnamed error");

/** Which check failed: openid-client wraps the error that says so, whose message is constant too. Errors of JSON.parse quote their input. */
const causeOf = ({ cause }: Error): string[] =>
  cause instanceof Error && String((cause as NodeJS.ErrnoException).code).startsWith("OAUTH_") ? [cause.message] : [];
