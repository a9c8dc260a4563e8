import { parseCellDatabases } from "@brand-records/config";
import { CommandFailure } from "../failure.ts";
import type { Session } from "../session.ts";
import { withPlatformDatabase, type PlatformDatabase } from "./platform-database.ts";
import { readPages } from "./read-pages.ts";

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
 * Returns what lets a new brand into its cell, which is nothing without cells. The database without a name becomes a cell with the first
 * brand of another: a gateway that knows no cells asks it for every brand.
 *
 * @throws CommandFailure if a database is not known
 */
export function entryTo(session: Session, cell = ""): (brandId: string) => Promise<void> {
  const hasCells = cellDatabases(session).size + session.endpoints.cells().size > 0;
  const needed = [...new Set(hasCells || cell !== "" ? ["", cell] : [])].map((each) => [each, cellDatabase(session, each)] as const);
  const statement = `select records.become_cell($1) where $2 or ${IS_CELL}`;
  return async (brandId) => {
    for (const [each, database] of needed) {
      const ids = each === cell ? [brandId] : (await allBrands(session)).items.flatMap((brand) => (brand.cell == null ? [brand.id] : []));
      await withPlatformDatabase(database, (db) => db.query(statement, [ids, cell !== ""]));
    }
  };
}

export const allBrands = (session: Session) => readPages(Infinity, 1_000, "brands", (page) => session.client("accounts").listBrands(page));

export const cellText = (cell: string): string => (cell === "" ? "the cell without a name" : `the cell ${cell}`);
