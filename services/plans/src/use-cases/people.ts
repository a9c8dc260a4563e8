import type { Sql } from "@brand-records/postgres";
import type { PersonPlan } from "@brand-records/proto/plans/v1";
import { brandsNaming, erasePerson, pageOfPersonPlans } from "../storage/person-plans.ts";

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
