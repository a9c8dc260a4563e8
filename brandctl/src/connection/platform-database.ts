import { postgresUrl, readSecretFile } from "@brand-records/config";
import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import { errorCode, errorReason } from "@brand-records/command-line";
import { CommandFailure, UsageFailure } from "../failure.ts";
import type { Session } from "../session.ts";
import { RUN_FILE } from "./endpoints.ts";

const FLAG = "--platform-database-url";
const SETTING = "PLATFORM_DATABASE_URL";
const SETTING_FILE = `${SETTING}_FILE`;

/** The database that the platform writes records to, with a login that has the role `platform`. */
export interface PlatformDatabase {
  readonly url: string;
  /** Source of the URL: a flag, a setting or a file. */
  readonly from: string;
}

/** The flag wins over the setting, the setting over the run file. @throws CommandFailure without any */
export function findPlatformDatabase({ terminal, endpoints }: Session, flag: string | undefined): PlatformDatabase {
  if (flag) return checked({ url: flag, from: FLAG });
  const set = terminal.env[SETTING];
  const path = terminal.env[SETTING_FILE];
  if (path) return checked({ url: readSetting(path, set), from: SETTING_FILE });
  if (set) return checked({ url: set, from: SETTING });
  const file = endpoints.runFile();
  if (file?.platformDatabaseUrl !== undefined) return checked({ url: file.platformDatabaseUrl, from: file.path });
  const where = endpoints.runFileProblem();
  throw new CommandFailure("unknown_address", `The platform's database is not known: no ${FLAG}, no ${SETTING}, ${where}.`, {
    hint: `Run npm start (it writes ${RUN_FILE}) and call brandctl from inside the repository, or set ${SETTING}: docs/platform.md says how a login gets the role.`,
  });
}

function readSetting(path: string, set: string | undefined): string {
  try {
    if (set) throw new Error(`${SETTING} is set too: set one of them`);
    return readSecretFile(path);
  } catch (error) {
    throw new CommandFailure("invalid_settings", `${SETTING_FILE}: ${(error as Error).message}.`);
  }
}

/** Messages leave the URL out: it holds a password. */
function checked(database: PlatformDatabase): PlatformDatabase {
  if (postgresUrl.safeParse(database.url).success) return database;
  const message = `${database.from} must be a Postgres URL, such as postgres://login:password@host:5432/brand_records.`;
  throw database.from === FLAG ? new UsageFailure(message) : new CommandFailure("invalid_settings", message);
}

/** Connects, does the work, and disconnects. @throws CommandFailure, with address and remedy, for connection and permission errors */
export async function withPlatformDatabase<T>(database: PlatformDatabase, work: (db: Database) => Promise<T>): Promise<T> {
  // Loaded when needed, as gRPC is.
  const { openPool } = await import("@brand-records/postgres");
  const db = openPool({ url: database.url, max: 1, applicationName: "brandctl" });
  try {
    return await work(db);
  } catch (error) {
    throw explain(error, database);
  } finally {
    await db.stop();
  }
}

function explain(error: unknown, { url, from }: PlatformDatabase): unknown {
  const { host, pathname, username } = new URL(url);
  const where = `${host}${pathname} (${from})`;
  const failure = (code: string, message: string, hint?: string): CommandFailure =>
    new CommandFailure(code, message, { cause: error, hint });
  if (error instanceof AppError && error.kind === "timeout") {
    return failure(
      "timeout",
      `The database at ${where} did not respond in time.`,
      "Another transaction may hold the record, or the database is busy: try again.",
    );
  }
  if (error instanceof AppError && error.kind === "unavailable") {
    const stale = from.endsWith(".json") ? "The file may be left from a run that has ended: npm start starts another. " : "";
    return failure(
      "unavailable",
      `The database cannot be reached at ${where}: ${errorReason(error.cause)}.`,
      `${stale}Is it running, and is ${SETTING} right?`,
    );
  }
  const login = decodeURIComponent(username);
  switch (errorCode(error)) {
    case "28P01":
    case "28000":
      return failure("unauthenticated", `The database at ${where} refuses the login ${login}.`, `Is the password in ${from} right?`);
    case "3D000":
      return failure("not_found", `There is no such database: ${where}.`, `Is the name in ${from} right?`);
    case "42P01":
    case "3F000":
      return failure(
        "not_found",
        `The database at ${where} has no tables for records.`,
        "The records service creates the tables when it starts. Is this the right database?",
      );
    case "42501":
      return failure(
        "permission_denied",
        `${login} may not change records at ${where}.`,
        `As the database's owner: psql -f services/records/platform-role.sql, then: grant platform to ${login}`,
      );
    case "23514":
      return failure("refused", `The database refuses the change: ${errorReason(error)}.`, "docs/platform.md lists its checks.");
    default:
      return error;
  }
}
