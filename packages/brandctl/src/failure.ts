import { ConfigError } from "@brand-records/config";
import { AppError, type ProblemDetail } from "@brand-records/errors";

/** A command that cannot do what was asked. `message` says why, `hint` what to do about it. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, options: ErrorOptions & { readonly hint?: string | undefined } = {}) {
    super(message, options);
    this.code = code;
    this.hint = options.hint;
  }
}

/** The command line itself is wrong: exit code 2. */
export class UsageFailure extends CommandFailure {
  constructor(message: string, hint?: string) {
    super("usage", message, { hint });
  }
}

/** Stopped by Ctrl-C: exit code 130. `message` says what became of the work. */
export class Interrupted extends CommandFailure {
  constructor(message: string, hint?: string) {
    super("interrupted", message, { hint });
  }
}

/** An error as it is printed: `{"error": …}` with `--json`, words otherwise. */
export interface FailureReport {
  readonly code: string;
  readonly message: string;
  readonly field?: string;
  readonly details?: readonly ProblemDetail[];
  readonly hint?: string;
}

/** By kind; by kind and field where the kind alone says too little. None where the message says what to do. */
const HINTS: Readonly<Record<string, string>> = {
  plan_required: "brandctl brands set-tier BRAND plus",
  brand_not_verified: "brandctl brands verify BRAND",
  owner_required: "brandctl members list BRAND shows who the owners are; brandctl members add BRAND EMAIL --role owner adds one",
  last_owner: "brandctl members add BRAND EMAIL --role owner",
  duplicate_url: "brandctl receivers list BRAND --json shows the brand's receivers with their URLs",
  receiver_limit: "brandctl receivers delete RECEIVER --brand BRAND makes room; brandctl receivers list BRAND shows what there is",
  receiver_disabled: "brandctl receivers enable RECEIVER --brand BRAND --release, or --drop",
  no_next_secret: "brandctl receivers rotate RECEIVER --brand BRAND makes one",
  "request_conflict since": "the same command with the same --since and --wait follows the one that is under way",
  "not_found delivery_id":
    "brandctl deliveries list --receiver RECEIVER --brand BRAND shows what is kept; other brands' are not found either",
  "not_found receiver_id": "brandctl receivers list BRAND shows the brand's receivers; those of other brands are not found either",
  "not_found brand_id": "brandctl brands list shows the brands",
  "not_found plan_id": "brandctl plans list BRAND shows the brand's plans; those of other brands are not found either",
};

export function reportOf(error: unknown): FailureReport {
  if (error instanceof CommandFailure) {
    return { code: error.code, message: error.message, ...(error.hint !== undefined && { hint: error.hint }) };
  }
  if (error instanceof AppError) {
    const hint = HINTS[`${error.kind} ${error.field}`] ?? HINTS[error.kind];
    return {
      code: error.kind,
      message: error.message,
      ...(error.field !== undefined && { field: error.field }),
      ...(error.details !== undefined && { details: error.details }),
      ...(hint !== undefined && { hint }),
    };
  }
  if (error instanceof ConfigError) return { code: "invalid_settings", message: error.problems.join("; ") };
  // Not foreseen, so a defect of ours: the stack is what whoever mends it needs.
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: "internal_error", message: `brandctl failed in a way it should not: ${stack}` };
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageFailure) return 2;
  return error instanceof Interrupted ? 130 : 1;
}
