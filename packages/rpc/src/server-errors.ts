import { isServerError, type AppError } from "@brand-records/errors";
import { Counter, type Logger, type Registry } from "@brand-records/telemetry";

/** Characters of a cause in a log line: lines stay short however many calls fail. */
const CAUSE_CHARACTERS_MAX = 300;
/** Causes of causes. */
const CAUSES_MAX = 5;

/** Where internal errors arise: in this process, or by an answer that a service should not give. */
const FAULTY = ["none", "accounts", "plans", "records", "webhook"] as const;

/** What a log line shows of a failure on our side. */
export interface ServerErrorFields {
  readonly kind: string;
  readonly dependency: string;
  readonly cause: string;
  /** Present for an `internal_error` only, whose stack leads to the fault. */
  readonly err?: unknown;
}

/** Counts the failures on our side in the process where they arise. */
export interface ServerErrors {
  /**
   * Counts an error of class 5xx. The caller writes the fields it returns into the one line of its request or call, at `warn`: so every
   * failure can be found by its request id, and failures never write more lines than there are calls.
   *
   * @returns undefined if there is nothing to log: it is the caller's error, or another process has reported it
   */
  count(error: AppError): ServerErrorFields | undefined;
}

export function countServerErrors(metrics: Registry): ServerErrors {
  const counter = new Counter({
    name: "server_errors_total",
    help: "Failures of class 5xx that arose in this process, by error code and by what failed or was waited for.",
    labelNames: ["kind", "dependency"],
    registers: [metrics],
  });
  // Else `increase()` does not see the first one of each.
  for (const dependency of FAULTY) counter.inc({ kind: "internal_error", dependency }, 0);
  return {
    count(error) {
      const { kind, dependency = "none", isReported } = error;
      if (isReported || !isServerError(kind)) return undefined;
      counter.inc({ kind, dependency });
      return { kind, dependency, cause: causeOf(error), ...(kind === "internal_error" && { err: error.cause ?? error }) };
    },
  };
}

/** The messages of the causes, on one line; of an error without a cause, its own message. */
function causeOf(error: AppError): string {
  const messages: string[] = [];
  let cause: unknown = error.cause ?? error;
  while (cause !== undefined && cause !== null && messages.length < CAUSES_MAX) {
    const { message, code, cause: deeper } = cause as { message?: unknown; code?: unknown; cause?: unknown };
    // An error of several addresses has no message, only a code.
    messages.push([message, code].find((text) => typeof text === "string" && text !== "")?.toString() ?? "unknown");
    cause = deeper;
  }
  return messages.join(": ").replaceAll(/\s+/g, " ").slice(0, CAUSE_CHARACTERS_MAX);
}

/**
 * Writes the line of a call or request that failed on our side: at `error` if the program is at fault, else at `warn`.
 *
 * @param line its fields, among them the request id
 */
export function logServerError(log: Logger, line: object, failure: ServerErrorFields, message: string): void {
  log[failure.kind === "internal_error" ? "error" : "warn"]({ ...line, ...failure }, message);
}
