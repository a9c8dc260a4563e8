import { types } from "node:util";
import { AppError } from "@brand-records/errors";
import pg from "pg";

/** SQLSTATE classes and codes of a server that is unreachable, stopping or full. */
const UNAVAILABLE = /^(08|53|57P0)/;
/** query_canceled and lock_not_available. */
const TIMED_OUT = new Set(["57014", "55P03"]);
const SOCKET_ERRORS = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"]);

/** Converts an error of pg to `unavailable` or `timeout` if the database is the reason; returns any other value unchanged. */
export function fromPostgresError(error: unknown): unknown {
  if (!types.isNativeError(error) || error instanceof AppError) return error;
  if (error instanceof pg.DatabaseError) forgetRow(error);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (TIMED_OUT.has(code)) return new AppError("timeout", "The request took too long. Try again.", { cause: error });
  const connectionLost = !(error instanceof pg.DatabaseError) && (SOCKET_ERRORS.has(code) || /connection|timeout/i.test(error.message));
  if (connectionLost || UNAVAILABLE.test(code)) {
    return new AppError("unavailable", "The database is unavailable. Try again shortly.", {
      cause: error,
      retryAfterSeconds: 1,
    });
  }
  return error;
}

/** Removes the row, input and parameters that Postgres adds to an error: user data must not be logged. */
function forgetRow(error: pg.DatabaseError): void {
  Object.assign(error, { detail: undefined, where: undefined, internalQuery: undefined });
}

export function isUniqueViolation(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "23505";
}

/**
 * Returns the SQLSTATE of a data exception or a violated constraint, such as a missing partition, which no retry cures;
 * undefined for any other error.
 */
export function dataProblemOf(error: unknown): string | undefined {
  const code = types.isNativeError(error) && "code" in error ? String(error.code) : "";
  return /^2[23]/.test(code) ? code : undefined;
}
