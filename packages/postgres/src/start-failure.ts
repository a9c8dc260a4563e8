import { types } from "node:util";
import { isTlsFailure } from "@brand-records/lifecycle";
import { postgresFailureOf, type PostgresFailure } from "./errors.ts";
import { MigrationError } from "./migration-files.ts";

/**
 * SQLSTATEs of a login, password, database or right that the settings name and the server refuses. A wrong password ends the start,
 * although a rotation may cure it: a restart tries again, and a typing error shows at once.
 */
const REFUSED = new Set(["28P01", "28000", "3D000", "42501"]);

/** Codes of Node for a PEM file that cannot be read. */
const UNREADABLE = new Set(["ENOENT", "EACCES"]);
const NO_TLS = "The server does not support SSL connections";

/** Why a process cannot start with its database. */
export type StartFailure =
  /** Wait: it is away, not ready yet, full, read-only after a failover, or a table stays locked. */
  | { readonly kind: "passing"; readonly failure: PostgresFailure; readonly cause: Error }
  /** The settings are wrong. `problem` names no password. */
  | { readonly kind: "settings"; readonly problem: string };

/** Returns undefined for any other error, such as a migration that fails. */
export function startFailureOf(error: unknown): StartFailure | undefined {
  const cause = error instanceof MigrationError && error.cause !== undefined ? error.cause : error;
  if (!types.isNativeError(cause)) return undefined;
  const code = "code" in cause ? String(cause.code) : "";
  const isRefused = REFUSED.has(code) || UNREADABLE.has(code) || isTlsFailure(code) || cause.message === NO_TLS;
  if (isRefused) return { kind: "settings", problem: cause.message };
  const failure = postgresFailureOf(cause);
  return failure === undefined || failure === "other" ? undefined : { kind: "passing", failure, cause };
}
