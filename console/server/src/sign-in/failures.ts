import type { SignInFailure } from "@brand-records/console-contract";
import { AppError } from "@brand-records/errors";
import { diagnoseProviderError } from "@brand-records/identity";

/** A sign-in cannot go on, for a reason that is known here. */
export class SignInError extends Error {
  override readonly name = "SignInError";
  readonly failure: SignInFailure;

  constructor(failure: SignInFailure) {
    super(failure);
    this.failure = failure;
  }
}

const OWN_FAILURES: ReadonlySet<string> = new Set<SignInFailure>([
  "email_not_verified",
  "no_membership",
  "identity_conflict",
  "rate_limited",
]);

interface Diagnosis {
  readonly failure: SignInFailure;
  /** Text for the log. Names the cause without a token, a code or anything about the person. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Explains an error of a sign-in. */
export function diagnose(error: unknown): Diagnosis {
  if (error instanceof SignInError) return { failure: error.failure, fields: {} };
  if (error instanceof AppError) {
    const failure = OWN_FAILURES.has(error.kind) ? (error.kind as SignInFailure) : "unavailable";
    // What accounts refuses comes from the provider, such as a token of another audience, or a subject with blanks.
    if (error.kind === "invalid_request" || error.kind === "invalid_id_token")
      return { failure: "invalid_response", fields: { cause: error.message } };
    return { failure, fields: { cause: error.kind, ...(error.kind === "internal_error" && { err: error.cause }) } };
  }
  return diagnoseProviderError(error) ?? { failure: "unavailable", fields: { err: error } };
}
