import type { Database } from "@brand-records/postgres";
import { pageOfBrandIds } from "../storage/brands.ts";
import { removeInFlightOf } from "../storage/brand-deletion.ts";
import { lockLanesOfBrand } from "../storage/lanes.ts";
import { deleteBrandData } from "./delete-brand.ts";

/** As many as accounts looks up with one call. */
const PAGE_BRANDS = 1_000;

/** Returns the brands of this database that were deleted since, as `deletedAmong` says. */
export async function brandsDeletedSince(
  db: Database,
  deletedAmong: (brandIds: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<string[]> {
  const deleted: string[] = [];
  for (let afterId = ""; ;) {
    const page = await pageOfBrandIds(db, afterId, PAGE_BRANDS);
    const last = page.at(-1);
    if (last === undefined) return deleted;
    deleted.push(...(await deletedAmong(page)));
    afterId = last;
  }
}

/** Deletes what a restored database has of a brand that was deleted since. No process of the service may run. Returns how many rows. */
export async function repeatDeletion(db: Database, brandId: string): Promise<number> {
  let rows = 0;
  for (;;) {
    const { deleted, done, waiting_for } = await deleteBrandData(db, brandId);
    rows += deleted.reduce((sum, each) => sum + each.rows, 0);
    if (done) return rows;
    if (waiting_for !== undefined) rows += await removeInFlight(db, brandId);
  }
}

/** The process that made these attempts has not outlived the backup. */
function removeInFlight(db: Database, brandId: string): Promise<number> {
  return db.transaction(async (sql) => removeInFlightOf(sql, await lockLanesOfBrand(sql, brandId)));
}
