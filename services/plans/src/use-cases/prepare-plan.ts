import type { PlanInput } from "@brand-records/resources";
import { AppError } from "@brand-records/errors";
import type { Sql } from "@brand-records/postgres";
import { newId } from "@brand-records/ids";
import { noticeWriter } from "@brand-records/service-runtime";
import type { PlansDependencies } from "../dependencies.ts";
import { requireSameRequest, type Plan } from "../domain/plan.ts";
import { countPending, findByRequest, insertPlan, lockBrand } from "../storage/plans.ts";

const notify = noticeWriter("plans");

export interface PlanRequest {
  readonly brandId: string;
  readonly input: PlanInput;
  /** Name of the key that prepares the plan. */
  readonly preparedBy: string | null;
}

export interface PreparePlanResult {
  readonly plan: Plan;
  /** The plan existed before this request. */
  readonly replayed: boolean;
}

/**
 * Makes the plan of a request_id, or returns the existing one, for any number of concurrent requests in any number of
 * processes. The first look-up takes no lock, so a repeated request waits for no other.
 *
 * @param deadline milliseconds since the epoch; no work begins after it
 * @throws AppError `request_conflict`, `pending_plan_limit`, `timeout`
 */
export async function preparePlan(
  { db, brandMutex, pendingMax }: PlansDependencies,
  { brandId, input, preparedBy }: PlanRequest,
  deadline: number,
): Promise<PreparePlanResult> {
  const replay = await findReplay(db, brandId, input);
  if (replay !== undefined) return replay;
  return brandMutex.run(brandId, () => {
    const remainingMs = deadline - Date.now();
    // The caller is gone; a retry makes the plan.
    if (remainingMs <= 0) throw new AppError("timeout", "The request took too long. Try again.");
    return db.transaction(async (sql) => {
      // The mutex orders the requests of this process; the lock orders those of all processes.
      await lockBrand(sql, brandId, remainingMs);
      const madeMeanwhile = await findReplay(sql, brandId, input);
      if (madeMeanwhile !== undefined) return madeMeanwhile;
      await requireBelowLimit(sql, brandId, pendingMax);
      const plan = await insertPlan(sql, { brandId, id: newId("pln"), input, preparedBy });
      await notify(sql, { action: "notice.plan_prepared", brand_id: brandId, subject_id: plan.id });
      return { plan, replayed: false };
    });
  });
}

async function findReplay(sql: Sql, brandId: string, input: PlanInput): Promise<PreparePlanResult | undefined> {
  const prepared = await findByRequest(sql, brandId, input.request_id);
  if (prepared === undefined) return undefined;
  requireSameRequest(prepared, input);
  return { plan: prepared.plan, replayed: true };
}

async function requireBelowLimit(sql: Sql, brandId: string, pendingMax: number): Promise<void> {
  if ((await countPending(sql, brandId)) < pendingMax) return;
  throw new AppError(
    "pending_plan_limit",
    `The brand has ${pendingMax} pending plans, the maximum. People must complete or cancel some in the workspace before new ones can be prepared.`,
  );
}
