import { types } from "node:util";
import { AppError } from "@brand-records/errors";
import pg from "pg";

/** SQLSTATE classes and codes that say the server is away, stopping or full, not that the statement is wrong. */
const AWAY = /^(08|53|57P0)/;
/** query_canceled and lock_not_available: it took longer than it may. */
const TOO_LONG = new Set(["57014", "55P03"]);
const SOCKET_ERRORS = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"]);

/** What pg threw, as `unavailable` or `timeout` where the database is the reason; anything else unchanged. */
export function fromPostgresError(error: unknown): unknown {
  if (!types.isNativeError(error) || error instanceof AppError) return error;
  if (error instanceof pg.DatabaseError) forgetRow(error);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (TOO_LONG.has(code)) return new AppError("timeout", "The answer took too long. Try again.", { cause: error });
  const connectionLost = !(error instanceof pg.DatabaseError) && (SOCKET_ERRORS.has(code) || /connection|timeout/i.test(error.message));
  if (connectionLost || AWAY.test(code)) {
    return new AppError("unavailable", "The database cannot be reached just now. Try again shortly.", {
      cause: error,
      retryAfterSeconds: 1,
    });
  }
  return error;
}

/** Postgres tells the failing row, a piece of its input or its parameters: what people wrote has no place in a log. */
function forgetRow(error: pg.DatabaseError): void {
  Object.assign(error, { detail: undefined, where: undefined, internalQuery: undefined });
}

export function isUniqueViolation(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "23505";
}

/**
 * SQLSTATE of a data exception or a violated constraint, a missing partition among them: what no repetition cures.
 * Undefined for everything else.
 */
export function dataProblemOf(error: unknown): string | undefined {
  // Not instanceof: see fromPostgresError.
  const code = types.isNativeError(error) && "code" in error ? String(error.code) : "";
  return /^2[23]/.test(code) ? code : undefined;
}
