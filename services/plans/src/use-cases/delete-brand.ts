import type { Database } from "@brand-records/postgres";
import { deleteInBatches, type Deleted } from "@brand-records/service-runtime";
import { deleteBrandLock, deletePlansOf } from "../storage/brand-deletion.ts";

/** A plan may have 200 KB of text. */
const BATCH_ROWS = 500;

/** Deletes a brand's plans, for about two seconds. */
export async function deleteBrandData(db: Database, brandId: string): Promise<Deleted> {
  const result = await deleteInBatches([
    { kind: "plans", batchRows: BATCH_ROWS, deleteBatch: (limit) => deletePlansOf(db, brandId, limit) },
  ]);
  if (result.done) await db.transaction((sql) => deleteBrandLock(sql, brandId));
  return result;
}
