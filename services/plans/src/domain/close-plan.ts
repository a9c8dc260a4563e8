import { AppError } from "@brand-records/errors";
import type { Parts } from "../parts.ts";
import { closePending, findPlan } from "../storage/plans.ts";
import { noSuchPlan, type Plan, type PlanState } from "./plan.ts";

interface Closing {
  readonly brandId: string;
  readonly planId: string;
  /** Who acts. */
  readonly member: string;
  readonly to: Exclude<PlanState, "pending">;
}

/**
 * Completes or cancels a plan, for good. Repeated it answers what the first time made of it.
 *
 * @throws AppError `not_found`; `plan_not_pending` if it was closed the other way
 */
export async function closePlan({ db }: Pick<Parts, "db">, { brandId, planId, member, to }: Closing): Promise<Plan> {
  const closed = (await closePending(db, { brandId, planId, member, to })) ?? (await findPlan(db, brandId, planId));
  if (closed === undefined) throw noSuchPlan();
  if (closed.status === to) return closed;
  throw new AppError("plan_not_pending", `The plan is ${closed.status}, and stays so`, { field: "plan_id" });
}

export interface Confirmations {
  readonly confirmed_pay: boolean;
  readonly confirmed_rights: boolean;
  readonly confirmed_funding: boolean;
}

/** @throws AppError `invalid_request` naming each that is missing */
export function requireConfirmations({ confirmed_pay, confirmed_rights, confirmed_funding }: Confirmations): void {
  const missing = Object.entries({ confirmed_pay, confirmed_rights, confirmed_funding }).filter(([, confirmed]) => !confirmed);
  const [first] = missing;
  if (first === undefined) return;
  const details = missing.map(([field]) => ({ field, message: "must be confirmed by the person who completes the plan" }));
  throw new AppError("invalid_request", `${details.map(({ field }) => field).join(", ")} must be confirmed`, {
    field: first[0],
    details,
  });
}
