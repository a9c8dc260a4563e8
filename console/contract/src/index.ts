import type { z } from "zod";
import { DELIVERY_OPERATIONS, REPLAY_OPERATIONS } from "./deliveries.ts";
import { EVENT_OPERATIONS } from "./events.ts";
import { KEY_OPERATIONS } from "./keys.ts";
import { MEMBER_OPERATIONS } from "./members.ts";
import { OVERSIGHT_OPERATIONS, OVERVIEW_OPERATIONS } from "./oversight.ts";
import { PLAN_OPERATIONS } from "./plans.ts";
import { RECEIVER_OPERATIONS } from "./receivers.ts";
import { SESSION_OPERATIONS } from "./session.ts";

export { ATTEMPT_OUTCOMES, type AttemptOutcome } from "./deliveries.ts";
export type { AuditAction } from "./audit-actions.ts";
export type { SignInFailure } from "./session.ts";

/**
 * Every call between the browser and the console's server: `POST /console/api/{operation}` with the input as JSON. The browser imports
 * the types only, so that no schema is in its scripts; `protocol`, `own-path`, `pages`, `range-reads` and `time-ranges`, which it
 * runs too, are entry points of their own.
 */
export const OPERATIONS = {
  ...SESSION_OPERATIONS,
  ...OVERVIEW_OPERATIONS,
  ...KEY_OPERATIONS,
  ...RECEIVER_OPERATIONS,
  ...DELIVERY_OPERATIONS,
  ...REPLAY_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...MEMBER_OPERATIONS,
  ...OVERSIGHT_OPERATIONS,
  ...PLAN_OPERATIONS,
};

export type OperationName = keyof typeof OPERATIONS;

/** What a caller sends. */
export type Input<Name extends OperationName> = z.input<(typeof OPERATIONS)[Name]["input"]>;
/** What the server has parsed. */
export type ParsedInput<Name extends OperationName> = z.output<(typeof OPERATIONS)[Name]["input"]>;
export type Output<Name extends OperationName> = z.output<(typeof OPERATIONS)[Name]["output"]>;

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
