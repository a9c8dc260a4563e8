import { types } from "node:util";
import { AppError } from "@brand-records/errors";
import pg from "pg";

/** SQLSTATE classes and codes of a server that is unreachable or stopping. */
const CONNECTION = /^(08|57P0)/;
/** query_canceled. */
const TIMED_OUT = "57014";
/** lock_not_available: the statement has a limit of its own for waiting. */
const LOCKED = "55P03";
/** pg-pool's error when every connection was in use for too long. One that cannot be opened has another. */
const POOL_FULL = "timeout exceeded when trying to connect";
/** read_only_sql_transaction: after a failover, a connection may still lead to the server that was the primary. */
const READ_ONLY = "25006";
/** Disk full, out of memory, too many connections. */
const RESOURCES = /^53/;
/** Data exceptions and violated constraints: the data is wrong, not the database. */
const DATA = /^2[23]/;
/** A cell of records does not have the brand, or refuses its writers. The detail is the cell that has it, if that is known. */
const BRAND_MOVING = "55R01";
/** in_failed_sql_transaction: sent together with a statement that failed, whose error says why. */
const FOLLOWS = "25P02";
const SOCKET_ERRORS = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** Why the database could not do what it was asked for. Of `pool` and `lock` the callers of this or another process are the reason. */
export const POSTGRES_FAILURES = ["connection", "timeout", "read_only", "resources", "pool", "lock", "other"] as const;
export type PostgresFailure = (typeof POSTGRES_FAILURES)[number];

/** Returns undefined if the database is fine and the data is not, or if the error is not of pg. */
export function postgresFailureOf(error: unknown): PostgresFailure | undefined {
  if (!types.isNativeError(error) || error instanceof AppError) return undefined;
  const code = codeOf(error);
  if (code === TIMED_OUT) return "timeout";
  if (code === LOCKED) return "lock";
  if (error.message === POOL_FULL) return "pool";
  if (code === READ_ONLY) return "read_only";
  if (RESOURCES.test(code)) return "resources";
  const connectionLost = !(error instanceof pg.DatabaseError) && (SOCKET_ERRORS.has(code) || /connection|timeout/i.test(error.message));
  if (connectionLost || CONNECTION.test(code)) return "connection";
  return DATA.test(code) || code === FOLLOWS || code === BRAND_MOVING ? undefined : "other";
}

/** admin_shutdown and crash_shutdown: the server is about to end every connection. */
const SHUTDOWN = new Set(["57P01", "57P02"]);

/** Whether a connection that was open has ended, rather than that none could be opened. */
export function isConnectionLost(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  const code = codeOf(error);
  return SHUTDOWN.has(code) || code === "ECONNRESET" || code === "EPIPE" || error.message === "Connection terminated unexpectedly";
}

/** Converts an error of pg to `unavailable`, `timeout` or `brand_moving` if the database is the reason; returns any other value unchanged. */
export function fromPostgresError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) {
    if (error.code === BRAND_MOVING) return brandMoving(error);
    forgetRow(error);
  }
  const failure = postgresFailureOf(error);
  if (failure === undefined || failure === "other") return error;
  const options = { cause: error, dependency: "postgres" } as const;
  if (failure === "timeout" || failure === "lock") return new AppError("timeout", "The request took too long. Try again.", options);
  return new AppError("unavailable", "The database is unavailable. Try again shortly.", { ...options, retryAfterSeconds: 1 });
}

/** No failure to count: the operator moves the brand, and the caller asks where it is. */
function brandMoving(error: pg.DatabaseError): AppError {
  const { detail: cell } = error;
  const details = cell === undefined ? {} : { details: [{ field: "cell", message: cell }] };
  const message = "The brand's records are being moved, or are in another cell. Try again.";
  return new AppError("brand_moving", message, { ...details, cause: error, retryAfterSeconds: 1, isReported: true });
}

const codeOf = (error: object): string => ("code" in error && typeof error.code === "string" ? error.code : "");

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
  const code = types.isNativeError(error) ? codeOf(error) : "";
  return DATA.test(code) ? code : undefined;
}
