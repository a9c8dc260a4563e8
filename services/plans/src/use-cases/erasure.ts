import type { Database, Sql } from "@brand-records/postgres";
import type { PersonPlan } from "@brand-records/proto/plans/v1";
import { type Deleted, deleteInBatches } from "@brand-records/service-runtime";
import { brandsNaming, deleteBrandLock, deletePlansOf, erasePerson, pageOfPersonPlans } from "../storage/erasure.ts";

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

/** Plans changed by one transaction. */
const BATCH_PLANS = 1_000;

/** Returns plans that a person closed or edited, in ascending order of id, after `afterId`. */
export const exportPlansOf = (db: Sql, email: string, afterId: string, limit: number): Promise<PersonPlan[]> =>
  pageOfPersonPlans(db, email, afterId, limit);

/** Puts the pseudonym in place of the address in every plan. Returns the brands with a plan that has the pseudonym, also from before. */
export async function eraseFromPlans(db: Sql, email: string, pseudonym: string): Promise<string[]> {
  while ((await erasePerson(db, email, pseudonym, BATCH_PLANS)) === BATCH_PLANS);
  return brandsNaming(db, pseudonym);
}
