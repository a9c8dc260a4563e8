import { AppError } from "@brand-records/errors";
import { OperatorServiceService, PlansServiceService, type ListPlansRequest, type Plan } from "@brand-records/proto/plans/v1";
import { service, type ServedService } from "@brand-records/rpc";
import { FakeData } from "./fake-data.ts";

const refuse = async (): Promise<never> => {
  throw new Error("brandctl only reads plans");
};

/** Plans in memory, newest first: what brandctl needs. */
export class FakePlans {
  readonly data = new FakeData();
  readonly plans: Plan[] = [];
  /** The failures of coming erasures, in turn; undefined: it succeeds. */
  readonly failErasures: (AppError | undefined)[] = [];
  /** Runs after each erasure. */
  afterErasure = (): void => {};
  /** Requests for lists. */
  readonly requests: ListPlansRequest[] = [];

  readonly served: readonly ServedService[] = [
    service(PlansServiceService, {
      getPlan: async ({ brand_id, plan_id }) => {
        const plan = this.plans.find((one) => one.brand_id === brand_id && one.id === plan_id);
        if (plan === undefined) throw new AppError("not_found", "There is no plan with this id", { field: "plan_id" });
        return { plan };
      },
      listPlans: async (request) => {
        this.requests.push(request);
        const { brand_id, status, page_size, after_id } = request;
        const limit = page_size === 0 ? 50 : page_size;
        const from = after_id == null ? 0 : this.plans.findIndex(({ id }) => id === after_id) + 1;
        const plans = this.plans
          .slice(from)
          .filter((plan) => plan.brand_id === brand_id && (status == null || plan.status === status))
          .slice(0, limit);
        return { plans, next_after_id: plans.length === limit ? (plans.at(-1)?.id ?? null) : null };
      },
      preparePlan: refuse,
      listPlanSummaries: refuse,
      getWorkspacePlan: refuse,
      updatePlan: refuse,
      cancelPlan: refuse,
      completePlan: refuse,
    }),
    service(OperatorServiceService, {
      findBrand: async ({ id }) => {
        const plan = this.plans.find((one) => one.id === id);
        if (plan === undefined) throw new AppError("not_found", "There is no plan with this id", { field: "id" });
        return { brand_id: plan.brand_id };
      },
      exportPerson: async ({ email }) => ({
        plans: this.plans
          .filter(({ closed_by }) => closed_by === email)
          .map(({ id, brand_id, status, closed_at }) => ({
            id,
            brand_id,
            status,
            closed_by_person: true,
            closed_at,
            edited_by_person: false,
          })),
      }),
      erasePerson: async ({ email, pseudonym }) => {
        const failure = this.failErasures.shift();
        if (failure !== undefined) throw failure;
        for (const plan of this.plans) if (plan.closed_by === email) plan.closed_by = pseudonym;
        const brands = this.plans.filter(({ closed_by }) => closed_by === pseudonym).map(({ brand_id }) => brand_id);
        this.afterErasure();
        return { brand_ids: brands };
      },
      deleteBrandData: this.data.deleteBrandData,
    }),
  ];
}

export function planOf(given: Partial<Plan> = {}): Plan {
  return {
    id: "pln_1",
    brand_id: "brd_1",
    request_id: "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11",
    status: "pending",
    title: "Pasko 2026",
    goal: "Reach",
    campaign_type: "ugc",
    planned_for: "2026-12-01",
    review_on: "2026-11-25",
    planning_budget_centavos: 15_000_050,
    summary: null,
    brief: null,
    requirements: [],
    platforms: [],
    created_at: "2026-11-21T08:30:00.000Z",
    updated_at: "2026-11-21T08:30:00.000Z",
    closed_at: null,
    closed_by: null,
    ...given,
  };
}
