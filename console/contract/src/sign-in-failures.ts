/**
 * Why a sign-in through the provider failed. The server redirects to `/sign-in?error=…`; the page explains it.
 *
 * - `provider_unreachable`: no usable response came from the provider
 * - `provider_error`: it reported an error, such as one about this service's registration
 * - `access_denied`: the person cancelled, or the provider does not let the person in
 * - `attempt_expired`: it took too long
 * - `attempt_unknown`: it was finished already, or did not begin in this browser
 * - `invalid_response`: what the provider sent does not pass the checks
 * - `unavailable`: a service of ours failed
 */
export type SignInFailure =
  | "provider_unreachable"
  | "provider_error"
  | "access_denied"
  | "attempt_expired"
  | "attempt_unknown"
  | "invalid_response"
  | "email_not_verified"
  | "no_membership"
  | "identity_conflict"
  | "rate_limited"
  | "unavailable";
