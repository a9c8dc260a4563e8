import { changedFields, type PlanInput } from "@brand-records/campaign-plan";
import { AppError } from "@brand-records/errors";
import type { Sql } from "@brand-records/postgres";
import { newId } from "@brand-records/typeid";
import type { Parts } from "../parts.ts";
import { countPending, findByRequest, holdBrand, insertPlan, type PreparedPlan } from "../storage/plans.ts";
import type { Plan } from "./plan.ts";

export interface Prepared {
  readonly plan: Plan;
  /** It was there before. */
  readonly replayed: boolean;
}

/**
 * Makes the plan of a request_id, or answers the one there is, however often and from wherever it is asked for at once.
 * What is there is looked for first, without holding anything: a repeat waits for nobody.
 *
 * @param deadline milliseconds since the epoch; nothing is begun after it
 * @throws AppError `request_conflict`, `pending_plan_limit`, `timeout`
 */
export async function preparePlan(
  { db, brandMutex, pendingMax }: Parts,
  brandId: string,
  input: PlanInput,
  deadline: number,
): Promise<Prepared> {
  const there = await findByRequest(db, brandId, input.request_id);
  if (there !== undefined) return replay(there, input);
  return brandMutex.run(brandId, () => {
    const withinMs = deadline - Date.now();
    // Nobody waits any more; whoever still wants the plan asks again.
    if (withinMs <= 0) throw new AppError("timeout", "The answer took too long. Try again.");
    return db.transaction(async (sql) => {
      // Another process may be at it: from here on there is one of us for this brand.
      await holdBrand(sql, brandId, withinMs);
      const made = await findByRequest(sql, brandId, input.request_id);
      if (made !== undefined) return replay(made, input);
      await requireRoom(sql, brandId, pendingMax);
      return { plan: await insertPlan(sql, { brandId, id: newId("pln"), input }), replayed: false };
    });
  });
}

async function requireRoom(sql: Sql, brandId: string, pendingMax: number): Promise<void> {
  if ((await countPending(sql, brandId)) < pendingMax) return;
  throw new AppError(
    "pending_plan_limit",
    `The brand has ${pendingMax} pending plans, which is as many as it may. Once people complete or cancel some in the workspace, new ones can be prepared.`,
  );
}

/** The plan as it is now: edits and completion in the workspace do not change what its request is compared with. */
function replay({ plan, input }: PreparedPlan, asked: PlanInput): Prepared {
  if (plan.status === "cancelled") {
    throw new AppError("request_conflict", "The plan of this request_id was cancelled. Use a new request_id to prepare another plan.", {
      field: "request_id",
    });
  }
  const changed = changedFields(input, asked);
  if (changed.length === 0) return { plan, replayed: true };
  throw new AppError(
    "request_conflict",
    `This request_id was used with another input: ${changed.join(", ")}. Send the same input to try again, or a new request_id for another plan.`,
    { field: "request_id", details: changed.map((field) => ({ field, message: "is not what it was in the first request" })) },
  );
}
