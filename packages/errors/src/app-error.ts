import type { ErrorKind } from "./kinds.ts";

/** One of several problems of one input. */
export interface ProblemDetail {
  readonly field: string;
  readonly message: string;
}

interface AppErrorOptions extends ErrorOptions {
  /** The one field or parameter that is wrong. */
  readonly field?: string;
  /** Every problem, if the whole input was checked. */
  readonly details?: readonly ProblemDetail[];
  /** Whole seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number;
  /** What failed or was waited for, if not this process itself. */
  readonly dependency?: Dependency | undefined;
  /** Nothing is left to log or count: the process where the error arose did, or no caller waits for a response. */
  readonly isReported?: boolean;
}

/** What a process depends on. */
export type Dependency = "postgres" | "kafka" | "accounts" | "plans" | "records" | "webhook" | "console" | "openid_provider";

/**
 * The only error that crosses a boundary. Callers see `kind`, `message`, `field` and `details`; only our logs see `cause`.
 * A message says what is wrong, then what to do, and never contains a key, a secret or another brand's data.
 */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly kind: ErrorKind;
  readonly field: string | undefined;
  readonly details: readonly ProblemDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly dependency: Dependency | undefined;
  readonly isReported: boolean;

  constructor(kind: ErrorKind, message: string, options: AppErrorOptions = {}) {
    super(message, options);
    this.kind = kind;
    this.field = options.field;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.dependency = options.dependency;
    this.isReported = options.isReported ?? false;
  }

  /** Converts any thrown value to an AppError; unknown errors become `internal_error` with `cause`. */
  static from(thrown: unknown, dependency?: Dependency): AppError {
    if (thrown instanceof AppError) return thrown;
    return new AppError("internal_error", "Something went wrong on our side. Try again; if it persists, send us the request id.", {
      cause: thrown,
      dependency,
    });
  }
}
