import { errorReason } from "@brand-records/command-line";
import { AppError } from "@brand-records/errors";
import { cellDatabase, cellText } from "../connection/cells.ts";
import { CommandFailure } from "../failure.ts";
import type { Session } from "../session.ts";

/** Hashes of all records of a brand take a minute for ten millions. */
export const STATEMENT_MS = 3_600_000;
/** A mover that freezes loses its locks after this time. */
const IDLE_MS = 60_000;

/** The database of a cell, by a login that owns the schema. */
export interface Cell {
  /** Empty: the one without a name. */
  readonly name: string;
  readonly url: string;
  /** @throws CommandFailure that names the cell */
  query<Row>(statement: string, values?: readonly unknown[]): Promise<Row[]>;
  stop(): Promise<void>;
}

/**
 * Connects to a cell, and keeps other movers of the brand away from it as long as the connection lasts.
 *
 * @throws CommandFailure
 */
export async function openCell(session: Session, name: string, brandId: string): Promise<Cell> {
  const { url } = cellDatabase(session, name);
  const where = `The database of ${cellText(name)} (${new URL(url).host})`;
  // Loaded when needed, as gRPC is.
  const { openDatabaseSession } = await import("@brand-records/postgres");
  const options = { url, applicationName: "brandctl brands move", idleTimeoutMs: IDLE_MS, statementTimeoutMs: STATEMENT_MS };
  const database = await openDatabaseSession(options).catch((error: unknown) => Promise.reject(explained(error, where)));
  const query: Cell["query"] = (statement, values) =>
    database.query<never>(statement, values).catch((error: unknown) => Promise.reject(explained(error, where)));
  try {
    await query(SETTINGS);
    await query(LOG_NOTHING);
    const [row] = await query<{ locked: boolean }>("select pg_try_advisory_lock(hashtextextended($1, 0)) as locked", [`move ${brandId}`]);
    const hint = "Or the settings name one database twice.";
    if (row?.locked !== true) throw new CommandFailure("request_conflict", `${where}: another process moves this brand.`, { hint });
  } catch (error) {
    await database.stop();
    throw error;
  }
  return { name, url, query, stop: () => database.stop() };
}

/** The states of a brand in two cells must not be lost once they were seen. */
const SETTINGS = "set synchronous_commit = on";
/** The statement that makes a subscription has the password of the source: no log or view of statements gets it, as far as the login may say so. */
const LOG_NOTHING = `
  select set_config(name, value, false)
    from (values ('log_statement', 'none'), ('log_min_duration_statement', '-1'), ('log_min_duration_sample', '-1'),
                 ('log_transaction_sample_rate', '0'), ('log_min_error_statement', 'panic'), ('pg_stat_statements.track', 'none'), ('track_activities', 'off')) s (name, value)
   where has_parameter_privilege(name, 'set')`;

function explained(error: unknown, where: string): CommandFailure {
  const [kind, cause] = error instanceof AppError ? [error.kind, error.cause] : ["refused", error];
  return new CommandFailure(kind, `${where}: ${errorReason(cause)}.`, { cause });
}

/** Returns what a cell says of a brand; of a closed one where it went. */
export const stateIn = async (cell: Cell, brandId: string): Promise<{ state: string; moved_to: string | null } | undefined> =>
  (await cell.query<never>("select state, moved_to from records.brands where brand_id = $1", [brandId]))[0];
