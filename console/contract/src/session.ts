import { z } from "zod";
import { anyone, nullable, session, time } from "./operation.ts";

/** 32 bytes in base64url. */
const token = z.string().regex(/^[A-Za-z0-9_-]{43}$/, "must be the token of a sign-in link");

export const membership = z.object({
  brand_id: z.string(),
  brand_name: z.string(),
  /** starter, plus, pro or enterprise. */
  tier: z.string(),
  verified: z.boolean(),
  role: z.enum(["owner", "member"]),
});

const person = {
  email: z.string(),
  /** The provider that signed the person in; null after a sign-in link. */
  issuer: nullable(z.string()),
  /** The session ends then at the latest. */
  ends_at: time,
  memberships: z.array(membership),
  /** The one brand that this session opens, after an owner's link; null: every brand of the person. */
  limited_to: nullable(z.string()),
  /** The environment of this deployment: live or test. */
  environment: z.enum(["live", "test"]),
  /** Requests accepted in any minute, by tier. */
  rate_limits: z.record(z.string(), z.number()),
};

/** Signing in and out, and the signed-in person. */
export const SESSION_OPERATIONS = {
  /** Returns how people sign in here: with links, and with which provider. */
  "sign_in.options": anyone().returns({
    links: z.boolean(),
    /** Time for which a link of an owner works. */
    link_hours: z.number(),
    provider: nullable(z.string()),
  }),
  /** Returns whom a link signs in, and uses nothing up. */
  "sign_in.peek": anyone({ token }).returns({
    email: z.string(),
    expires_at: time,
    /** The one brand that the link opens; null: every brand of the person. */
    brand_name: nullable(z.string()),
  }),
  /** Uses the link up and sets the session's cookie. */
  "sign_in.redeem": anyone({ token }).returns({ email: z.string() }),
  "session.me": session().returns(person),
  /** Ends the session. Succeeds without one, too. `location` is where the browser goes next to sign out at the provider, if anywhere. */
  "session.sign_out": anyone().returns({ location: nullable(z.string()) }),
  /**
   * Ends all sessions of the person, this one included, and deletes the unused links. In a session that opens one brand alone: those that
   * open it alone, too.
   */
  "session.sign_out_everywhere": session().returns({ location: nullable(z.string()) }),
  /** Returns which of the person's brands has a record. */
  "session.locate": session({ id: z.string().regex(/^(key|rcv|dlv|evt|rpl|pln)_[0-9a-z]{1,40}$/, "must be the id of a record") }).returns({
    brand_id: z.string(),
  }),
};

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
