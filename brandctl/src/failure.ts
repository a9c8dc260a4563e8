import { CommandFailure, Interrupted, UsageFailure, type FailureReport } from "@brand-records/command-line";
import { ConfigError } from "@brand-records/config";
import { AppError } from "@brand-records/errors";

export { CommandFailure, Interrupted, UsageFailure };

/** Returns a field that the service always sets. @throws Error if it is missing: a defect of the service */
export function required<T>(value: T | null | undefined, name: string): T {
  if (value == null) throw new Error(`the response has no ${name}`);
  return value;
}

/** Returns a failure of a service, or of the way to it, in other words; any other error as it is. */
export function restated(error: unknown, message: string, hint?: string): unknown {
  if (error instanceof AppError) return new CommandFailure(error.kind, message, { cause: error, hint });
  if (!(error instanceof CommandFailure)) return error;
  return new CommandFailure(error.code, message, { cause: error, hint: [error.hint, hint].filter(Boolean).join(" ") || undefined });
}

/** What to do, by the error's kind, or by kind and field where the kind alone says too little. Words in capitals stand for ids. */
const HINTS: Readonly<Record<string, string>> = {
  plan_required: "brandctl brands set-tier BRAND plus",
  brand_not_verified: "brandctl brands verify BRAND",
  owner_required: "brandctl members list --brand BRAND shows the owners; brandctl members add EMAIL --brand BRAND --role owner adds one",
  last_owner: "brandctl members add EMAIL --brand BRAND --role owner",
  still_a_member: "brandctl members export EMAIL shows the brands; brandctl members remove EMAIL --brand BRAND removes the person",
  no_membership: "brandctl members add EMAIL --brand BRAND makes the person a member",
  duplicate_url: "brandctl receivers list --brand BRAND --json shows the brand's receivers with their URLs",
  receiver_limit: "brandctl receivers delete RECEIVER makes room; brandctl receivers list --brand BRAND shows the receivers",
  key_limit: "brandctl keys revoke KEY makes room; brandctl keys list --brand BRAND shows the keys in use first",
  member_limit: "brandctl members remove EMAIL --brand BRAND makes room",
  receiver_disabled: "brandctl receivers enable RECEIVER --release, or --drop",
  no_next_secret: "brandctl receivers rotate RECEIVER makes one",
  next_secret_not_accepted:
    "brandctl receivers test RECEIVER --next sends such a test; brandctl receivers activate RECEIVER --force activates without one",
  "request_conflict since": "brandctl deliveries replay --follow REPLAY follows the replay in progress",
  "not_found brand_id": "brandctl brands list shows the brands",
  "not_found key_id": "brandctl keys list --brand BRAND shows a brand's keys; with --brand, only that brand's are found",
  "not_found plan_id": "brandctl plans list --brand BRAND shows a brand's plans; with --brand, only that brand's are found",
  "not_found receiver_id": "brandctl receivers list --brand BRAND shows a brand's receivers; with --brand, only that brand's are found",
  "not_found event_id": "brandctl events list --brand BRAND shows a brand's events of the last 30 days",
  "not_found delivery_id":
    "brandctl deliveries list --receiver RECEIVER shows the deliveries kept; with --brand, only that brand's are found",
};

/** @param ids of what the command is about, by their word in HINTS; what it does not know stays a word */
export function reportOf(error: unknown, ids: ReadonlyMap<string, string> = new Map()): FailureReport {
  if (error instanceof CommandFailure) {
    return { code: error.code, message: error.message, ...(error.hint !== undefined && { hint: error.hint }) };
  }
  if (error instanceof AppError) {
    const hint = (HINTS[`${error.kind} ${error.field}`] ?? HINTS[error.kind])?.replace(/\b[A-Z]{5,}\b/g, (word) => ids.get(word) ?? word);
    return {
      code: error.kind,
      message: error.message,
      ...(error.field !== undefined && { field: error.field }),
      ...(error.details !== undefined && { details: error.details }),
      ...(hint !== undefined && { hint }),
    };
  }
  if (error instanceof ConfigError) return { code: "invalid_settings", message: error.problems.join("; ") };
  // Unforeseen, so a defect of brandctl: the report needs the stack.
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: "internal_error", message: `unexpected error in brandctl, please report it: ${stack}` };
}
