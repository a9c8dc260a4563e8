import type { z } from "zod";
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
/** What a service has sent. */
export type Message<Name extends OperationName> = NonNullable<(typeof OPERATIONS)[Name]["message"]>;
/** What a caller gets. */
export type Output<Name extends OperationName> = NonNullable<(typeof OPERATIONS)[Name]["output"]>;

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
 * `provider_unreachable`: no usable response came from it; `provider_error`: it reported an error, such as one about this service's
 * registration; `attempt_unknown`: the attempt was finished already, or did not begin in this browser; `unavailable`: a service of ours failed.
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
