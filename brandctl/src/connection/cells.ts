import { parseCellDatabases } from "@brand-records/config";
import { CommandFailure } from "../failure.ts";
import type { Session } from "../session.ts";
import { withPlatformDatabase, type PlatformDatabase } from "./platform-database.ts";

/** Returns the databases of cells by the cell's name, empty for the one without: each by a login that owns the schema. @throws ConfigError */
export function cellDatabases({ terminal, endpoints }: Session): ReadonlyMap<string, PlatformDatabase> {
  const set = parseCellDatabases(terminal.env);
  const file = set.size > 0 ? undefined : endpoints.runFile();
  const urls = file === undefined ? [...set] : Object.entries(file.cellDatabases);
  return new Map(urls.map(([cell, url]) => [cell, { url, from: file?.path ?? settingOf(cell) }]));
}
const settingOf = (cell: string): string => (cell === "" ? "RECORDS_DATABASE_URL" : "RECORDS_CELL_DATABASES");

/** Whether a database serves only the brands in `records.brands`: see the migration 0004-cells. */
export const IS_CELL = "exists (select from pg_trigger where tgname = 'campaigns_cell' and tgrelid = 'records.campaigns'::regclass)";

/** Returns what lets a new brand into its cell, which is nothing without cells. @throws CommandFailure if the cell's database is not known */
export function entryTo(session: Session, cell = ""): (brandId: string) => Promise<unknown> {
  const databases = cellDatabases(session);
  const database = databases.get(cell);
  if (database === undefined && (cell !== "" || databases.size + session.endpoints.cells().size > 0))
    throw new CommandFailure("unknown_address", `The database of ${cellText(cell)} is not known: set ${settingOf(cell)}.`);
  const statement = `select records.become_cell(array[$1]) where $2 or ${IS_CELL}`;
  return async (id) => database && withPlatformDatabase(database, (db) => db.query(statement, [id, cell !== ""]));
}

export const cellText = (cell: string): string => (cell === "" ? "the cell without a name" : `the cell ${cell}`);
