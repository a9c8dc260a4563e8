import type { Database, Sql } from "@brand-records/postgres";
import type { PersonPlan } from "@brand-records/proto/plans/v1";
import { auditEntriesOf, type Deleted, deleteInBatches } from "@brand-records/service-runtime";
import type { PlansDependencies } from "../dependencies.ts";
import { brandsNaming, deleteBrandLock, deletePlansOf, erasePerson, pageOfPersonPlans } from "../storage/erasure.ts";

/** A plan may have 200 KB of text. */
const BATCH_ROWS = 500;

/** Deletes a brand's plans and its entries of the audit log, for about two seconds. */
export async function deleteBrandData(db: Database, brandId: string): Promise<Deleted> {
  const result = await deleteInBatches([
    { kind: "plans", batchRows: BATCH_ROWS, deleteBatch: (limit) => deletePlansOf(db, brandId, limit) },
    auditEntriesOf(db, "plans", brandId),
  ]);
  if (result.done) await db.transaction((sql) => deleteBrandLock(sql, brandId));
  return result;
}

/** Plans changed by one transaction. */
const BATCH_PLANS = 1_000;

/** Returns plans that a person closed or edited, in ascending order of id, after `afterId`. */
export const exportPlansOf = (db: Sql, email: string, afterId: string, limit: number): Promise<PersonPlan[]> =>
  pageOfPersonPlans(db, email, afterId, limit);

/**
 * Puts the pseudonym in place of the address in every plan, and in entries of the audit log. Returns the brands of those that have the
 * pseudonym, also from before.
 */
export async function eraseFromPlans(
  { db, audit }: Pick<PlansDependencies, "db" | "audit">,
  email: string,
  pseudonym: string,
): Promise<string[]> {
  while ((await erasePerson(db, email, pseudonym, BATCH_PLANS)) === BATCH_PLANS);
  const brandIds = [...(await audit.erase(email, pseudonym)), ...(await brandsNaming(db, pseudonym))];
  return [...new Set(brandIds)].toSorted();
}
