import type { PlanSummary } from "@brand-records/proto/plans/v1";
import {
  callContext,
  longestPlanInput,
  MEMBER,
  newBrand,
  planInput,
  servePlans,
  shortPlanInput,
  type ServedDatabase,
} from "../../test/serve-plans.ts";

let served: ServedDatabase;
beforeAll(async () => {
  served = await servePlans();
});
afterAll(() => served.stop());

const list = (brand_id: string, more: { status?: string; page_size?: number; after_id?: string | null } = {}) =>
  served.plans.listPlanSummaries({ brand_id, acting_member: MEMBER, page_size: 0, ...more }, callContext());

it("returns the short fields of each plan, newest first, with the exact number of pending ones", async () => {
  const brand = newBrand();
  const { plan: first } = await served.prepare(brand, planInput());
  const request = { brand_id: brand, input: longestPlanInput(), prepared_by: "Looker" };
  const { plan: second } = await served.plans.preparePlan(request, callContext());
  const closed = await served.complete(brand, first.id);
  const summaryOf = (plan: typeof first, prepared_by: string | null): PlanSummary => ({
    id: plan.id,
    status: plan.status,
    title: plan.title,
    campaign_type: plan.campaign_type,
    planned_for: plan.planned_for,
    review_on: plan.review_on,
    planning_budget_centavos: plan.planning_budget_centavos,
    prepared_by,
    created_at: plan.created_at,
    updated_at: plan.updated_at,
    closed_at: plan.closed_at,
    closed_by: plan.closed_by,
  });
  expect(await list(brand)).toEqual({
    plans: [summaryOf(second ?? first, "Looker"), summaryOf(closed, null)],
    next_after_id: null,
    pending: 1,
    pending_max: 200,
  });
  expect((await list(brand, { status: "completed" })).plans.map(({ id }) => id)).toEqual([first.id]);
});

it("returns every plan once, in pages of any size, by state too", async () => {
  const brand = newBrand();
  const made: string[] = [];
  for (let i = 0; i < 5; i += 1) made.unshift((await served.prepare(brand, shortPlanInput())).plan.id);
  await served.cancel(brand, made[2] ?? "");
  const walk = async (page_size: number, status?: string): Promise<string[]> => {
    const seen: string[] = [];
    for (let after_id: string | null = null; ;) {
      const page: Awaited<ReturnType<typeof list>> = await list(brand, { page_size, after_id, ...(status !== undefined && { status }) });
      seen.push(...page.plans.map(({ id }) => id));
      if (page.next_after_id == null) return seen;
      after_id = page.next_after_id;
    }
  };
  for (const size of [1, 2, 5, 200]) {
    expect(await walk(size)).toEqual(made);
    expect(await walk(size, "pending")).toEqual(made.filter((_, i) => i !== 2));
  }
});

it("is empty for a brand without plans", async () => {
  expect(await list(newBrand())).toEqual({ plans: [], next_after_id: null, pending: 0, pending_max: 200 });
});

it("refuses a page of more than 200, an unknown state, and the after_id of an unknown plan or another brand's", async () => {
  const [brand, other] = [newBrand(), newBrand()];
  const theirs = (await served.prepare(other, shortPlanInput())).plan.id;
  for (const [field, more] of [
    ["page_size", { page_size: 201 }],
    ["page_size", { page_size: -1 }],
    ["status", { status: "open" }],
    ["after_id", { after_id: "pln_unknown" }],
    ["after_id", { after_id: theirs }],
    ["after_id", { after_id: "sub_1" }],
  ] as const) {
    await expect(list(brand, more)).rejects.toMatchObject({ kind: "invalid_request", field });
  }
});

it("a closed plan makes room for a new one at the limit", async () => {
  const small = await served.another({ pendingMax: 1 });
  const brand = newBrand();
  const { plan } = await small.prepare(brand, shortPlanInput());
  await expect(small.prepare(brand, shortPlanInput())).rejects.toMatchObject({ kind: "pending_plan_limit" });
  await small.update(brand, plan.id, 1, { title: "Edited" });
  await small.cancel(brand, plan.id, MEMBER, 2);
  await small.prepare(brand, shortPlanInput());
});
