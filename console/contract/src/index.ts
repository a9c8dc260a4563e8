import type { z } from "zod";
import type { Operation } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";

export type { AuditAction } from "@brand-records/proto/methods";
/**
 * The browser imports the types only, so that no schema is in its scripts; `protocol`, `own-path`, `pages`, `range-reads` and `time-ranges`,
 * which it runs too, are entry points of their own.
 */
export { OPERATIONS };

export type OperationName = keyof typeof OPERATIONS;

/** What a caller sends. */
export type Input<Name extends OperationName> = z.input<(typeof OPERATIONS)[Name]["input"]>;
/** What the server has parsed. */
export type ParsedInput<Name extends OperationName> = z.output<(typeof OPERATIONS)[Name]["input"]>;
export type Output<Name extends OperationName> =
  (typeof OPERATIONS)[Name] extends Operation<infer _Who, infer _In, infer Out> ? Out : never;

export type Membership = Output<"session.me">["memberships"][number];
export type Key = Output<"keys.list">["keys"][number];
export type Member = Output<"members.list">["members"][number];
export type Receiver = Output<"receivers.get">["receiver"];
export type Delivery = Output<"deliveries.get">["delivery"];
export type Replay = Output<"replays.start">["replay"];
export type Plan = Output<"plans.get">["plan"];
export type PlanSummary = Output<"plans.list">["plans"][number];
/** What a call changes of a plan. */
export type PlanChanges = Input<"plans.update">["changes"];
export type Attempt = Output<"deliveries.get">["attempts"][number];

/** How an attempt to deliver ended, as the webhook service names it. A later release may have others. */
export const ATTEMPT_OUTCOMES = [
  "accepted",
  "refused",
  "dns",
  "forbidden_address",
  "proxy_refused",
  "connect",
  "tls",
  "timeout",
  "closed",
  "protocol",
  "unsendable",
  "unknown",
] as const;

export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** An error of any operation. `code` is one of packages/errors. */
export interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly field?: string;
    readonly details?: readonly { readonly field: string; readonly message: string }[];
    readonly request_id: string;
  };
}

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
