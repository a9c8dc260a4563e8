import { setTimeout as pause } from "node:timers/promises";
import { parseCellDatabases } from "@brand-records/config";
import { AppError } from "@brand-records/errors";
import { CommandFailure } from "../failure.ts";
import type { Session } from "../session.ts";
import type { Client } from "./clients.ts";
import { withPlatformDatabase, type PlatformDatabase } from "./platform-database.ts";
import { readPages } from "./read-pages.ts";

const TRIES_MAX = 10;
const RETRY_MS = 1_000;

/** Returns the databases of cells by the cell's name, empty for the one without: each by a login that owns the schema. @throws ConfigError */
export function cellDatabases({ terminal, endpoints }: Session): ReadonlyMap<string, PlatformDatabase> {
  const set = parseCellDatabases(terminal.env);
  const file = set.size > 0 ? undefined : endpoints.runFile();
  const urls = file === undefined ? [...set] : Object.entries(file.cellDatabases);
  return new Map(urls.map(([cell, url]) => [cell, { url, from: file?.path ?? settingOf(cell) }]));
}
const settingOf = (cell: string): string => (cell === "" ? "RECORDS_DATABASE_URL" : "RECORDS_CELL_DATABASES");

/** Returns one of them. @throws CommandFailure if it is not known */
export function cellDatabase(session: Session, cell: string): PlatformDatabase {
  const database = cellDatabases(session).get(cell);
  if (database !== undefined) return database;
  throw new CommandFailure("unknown_address", `The database of ${cellText(cell)} is not known: set ${settingOf(cell)}.`);
}

/** Whether a database serves only the brands in `records.brands`: see the migration 0004-cells. */
export const IS_CELL = "exists (select from pg_trigger where tgname = 'campaigns_cell' and tgrelid = 'records.campaigns'::regclass)";

/**
 * Makes a database a cell, unless it is one, with the brands that accounts says are in it.
 *
 * @throws CommandFailure `still_written` if transactions were in the way each time
 */
export async function makeCell(database: Queried, accounts: Client<"accounts">, cell: string): Promise<void> {
  if (await isCell(database)) return;
  const brands = (await allBrands(accounts)).items.filter((brand) => (brand.cell ?? "") === cell);
  const brandIds = brands.map(({ id }) => id);
  await becomeCell(database, brandIds, cell);
}

/** Tries again, as it waits for no transaction for long: writers would wait behind it. */
async function becomeCell(database: Queried, brandIds: readonly string[], cell: string): Promise<void> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1)
    try {
      return void (await database.query("select records.become_cell($1)", [brandIds]));
    } catch (error) {
      if (!isTimeout(error)) throw error;
      await pause(RETRY_MS);
    }
  const hint = "pg_stat_activity shows transactions that have written records and have not ended: an import, perhaps. Try again after it.";
  throw new CommandFailure("still_written", `Transactions held records of ${cellText(cell)} each of ${TRIES_MAX} times.`, { hint });
}

interface Queried {
  query(statement: string, values?: readonly unknown[]): Promise<readonly unknown[]>;
}

export const isCell = async (database: Queried): Promise<boolean> => (await database.query(`select where ${IS_CELL}`)).length > 0;

/** Whether a statement, or its wait for a lock, took too long: in a pool, or in a mover's session, whose errors name the cell. */
export const isTimeout = (error: unknown): boolean =>
  (error instanceof AppError && error.kind === "timeout") || (error instanceof CommandFailure && error.code === "timeout");

/**
 * Returns what lets a new brand into its cell, which is nothing without cells. The database without a name becomes a cell with the first
 * brand of another: a gateway that knows no cells asks it for every brand.
 *
 * @throws CommandFailure if a database is not known
 */
export function entryTo(session: Session, cell = ""): (brandId: string) => Promise<void> {
  const hasCells = cellDatabases(session).size + session.endpoints.cells().size > 0;
  if (!hasCells && cell === "") return async () => {};
  const [unnamed, own] = [cellDatabase(session, ""), cellDatabase(session, cell)];
  return async (brandId) => {
    if (cell !== "") await withPlatformDatabase(unnamed, (db) => makeCell(db, session.client("accounts"), ""));
    // Before it is a cell, too: another process may make it one that has listed the brands already.
    const letIn = "insert into records.brands (brand_id, state) values ($1, 'open') on conflict do nothing";
    await withPlatformDatabase<unknown>(own, (db) => (cell === "" ? db.query(letIn, [brandId]) : becomeCell(db, [brandId], cell)));
  };
}

export const allBrands = (accounts: Client<"accounts">) => readPages(Infinity, 1_000, "brands", (page) => accounts.listBrands(page));

export const cellText = (cell: string): string => (cell === "" ? "the cell without a name" : `the cell ${cell}`);
