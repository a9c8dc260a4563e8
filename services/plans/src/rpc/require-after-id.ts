import { AppError } from "@brand-records/errors";
import type { Sql } from "@brand-records/postgres";
import { findPlan } from "../storage/plans.ts";

/**
 * Checks the position of an empty page: after another brand's plan it is empty, too, which would look like the end of the list.
 *
 * @throws AppError `invalid_request`
 */
export async function requireAfterId(db: Sql, brandId: string, afterId: string | null): Promise<void> {
  if (afterId === null || (await findPlan(db, brandId, afterId)) !== undefined) return;
  throw new AppError("invalid_request", "after_id is not a plan of this brand", { field: "after_id" });
}
