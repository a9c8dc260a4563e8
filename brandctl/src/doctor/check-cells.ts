import { allBrands, cellDatabases, cellText, IS_CELL } from "../connection/cells.ts";
import { withPlatformDatabase } from "../connection/platform-database.ts";
import type { Session } from "../session.ts";
import type { CheckResult } from "./check-process.ts";

const DETAILS_MAX = 10;
const REMEDY =
  "If no move is to be continued, a database was restored: docs/operations.md#a-cell. RECORDS_DATABASE_URL and RECORDS_CELL_DATABASES name them.";

/** Brands that a cell has and accounts names elsewhere, or the other way round. Those that are closing are on their way to another cell. */
const differencesFrom = (named: string): string => `
  select coalesce(b.brand_id, named.id) as id, coalesce(b.state, 'not') as state, named.cell
    from records.brands b full join ${named} on named.id = b.brand_id
  where (${IS_CELL} or $3 <> '') and (b.state = 'closing' or coalesce(b.state <> 'closed', false) <> coalesce(named.cell = $3, false)) order by 1`;

/** Compares the brands that cells have with what accounts names: they differ after a restore. Returns nothing without cells. */
export async function checkCells(session: Session): Promise<CheckResult[]> {
  const [databases, cells] = [cellDatabases(session), session.endpoints.cells()];
  if (databases.size === 0 && cells.size === 0) return [];
  const { unnestRows } = await import("@brand-records/postgres");
  const named = unnestRows({ id: "text", cell: "text" }, { as: "named" });
  const brands = (await allBrands(session.client("accounts"))).items.map(({ id, cell }) => ({ id, cell: cell ?? "" }));
  const [problems, moving] = [[] as { id: string; text: string }[], new Set<string>()];
  for (const [here, database] of databases) {
    const found = await withPlatformDatabase(database, (db) =>
      db.query<{ id: string; state: string; cell: string | null }>(differencesFrom(named.relation), [...named.values(brands), here]),
    );
    for (const { id, state, cell } of found) {
      if (state === "closing") moving.add(id);
      const elsewhere = cell === null ? "has no such brand" : `names ${cellText(cell)}`;
      problems.push({ id, text: `${id} is ${state} in ${cellText(here)}, and accounts ${elsewhere}` });
    }
  }
  const wrong = problems.flatMap(({ id, text }) => (moving.has(id) ? [] : [text]));
  const unknown = [...new Set(["", ...cells.keys(), ...brands.map(({ cell }) => cell)])].filter((cell) => !databases.has(cell));
  const details = [...unknown.map((cell) => `the database of ${cellText(cell)} is not known`), ...wrong];
  const check = { name: "brands of cells", detail: details.slice(0, DETAILS_MAX).join("; ") || "are where accounts names them" };
  return [{ ...check, ...(details.length === 0 ? { state: "ok" } : { state: "degraded", remedy: REMEDY }) }];
}
