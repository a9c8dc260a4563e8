import {
  callContext,
  CONFIRMED,
  MEMBER,
  newBrand,
  planInput,
  servePlans,
  type ServedDatabase,
  type ServedPlans,
} from "../../test/serve-plans.ts";

let served: ServedDatabase;
beforeAll(async () => {
  served = await servePlans();
});
afterAll(() => served.stop());

interface Target {
  readonly brand_id: string;
  readonly plan_id: string;
  readonly acting_member: string;
}

/** Every call of the workspace, as a person makes it. */
const CALLS: Record<string, (plans: ServedPlans["plans"], target: Target) => Promise<unknown>> = {
  listPlanSummaries: (plans, { brand_id, acting_member }) =>
    plans.listPlanSummaries({ brand_id, acting_member, page_size: 0 }, callContext()),
  getWorkspacePlan: (plans, target) => plans.getWorkspacePlan(target, callContext()),
  updatePlan: (plans, target) =>
    plans.updatePlan({ ...target, expected_revision: 1, changes: { title: "Edited", requirements: null, platforms: null } }, callContext()),
  cancelPlan: (plans, { acting_member: member, ...target }) => plans.cancelPlan({ ...target, member, expected_revision: 1 }, callContext()),
  completePlan: (plans, { acting_member: member, ...target }) =>
    plans.completePlan({ ...target, member, expected_revision: 1, ...CONFIRMED }, callContext()),
};

describe.each(Object.keys(CALLS))("%s", (name) => {
  const call = (target: Target): Promise<unknown> => CALLS[name]?.(served.plans, target) ?? Promise.reject(new Error("no call"));

  async function target(): Promise<Target> {
    const brand_id = newBrand();
    const { plan } = await served.prepare(brand_id, planInput());
    return { brand_id, plan_id: plan.id, acting_member: MEMBER };
  }

  it("serves a member, also if the address has capitals", async () => {
    await expect(call({ ...(await target()), acting_member: "Ana@Example.PH" })).resolves.toBeDefined();
  });

  it("refuses people of other brands and unknown brands alike, with not_found", async () => {
    const [ours, unknown] = [await target(), newBrand()];
    served.accounts.unknownBrands.add(unknown);
    const refusals = await Promise.all(
      [
        { ...ours, acting_member: "stranger@example.ph" },
        { ...ours, plan_id: "pln_unknown", acting_member: "stranger@example.ph" },
        { ...ours, brand_id: unknown, acting_member: "stranger@example.ph" },
      ].map((one) => call(one).catch(({ kind, message, field }) => ({ kind, message, field }))),
    );
    expect(refusals).toEqual(refusals.map(() => refusals[0]));
    expect(refusals[0]).toMatchObject({ kind: "not_found" });
    expect(await served.getInWorkspace(ours.brand_id, ours.plan_id)).toMatchObject({ plan: { status: "pending" }, revision: 1 });
  });

  it("refuses a removed member from the next call", async () => {
    const ours = await target();
    served.accounts.removed.add(`${ours.brand_id} ${MEMBER}`);
    await expect(call(ours)).rejects.toMatchObject({ kind: "not_found" });
    served.accounts.removed.delete(`${ours.brand_id} ${MEMBER}`);
    expect(await served.getInWorkspace(ours.brand_id, ours.plan_id)).toMatchObject({ plan: { status: "pending" }, revision: 1 });
  });

  it("asks accounts for one member alone, however many the brand has", async () => {
    const ours = await target();
    served.accounts.listed.length = 0;
    await call(ours);
    expect(served.accounts.listed).toEqual([1]);
  });

  it("is unavailable while accounts is, and changes nothing", async () => {
    const ours = await target();
    served.accounts.isDown = true;
    try {
      await expect(call(ours)).rejects.toMatchObject({ kind: "unavailable", message: expect.stringContaining("nothing was changed") });
    } finally {
      served.accounts.isDown = false;
    }
    expect(await served.getInWorkspace(ours.brand_id, ours.plan_id)).toMatchObject({ plan: { status: "pending" }, revision: 1 });
  });
});

it("preparing, reading and listing plans for integrations need no accounts", async () => {
  const brand = newBrand();
  served.accounts.isDown = true;
  try {
    const { plan } = await served.prepare(brand, planInput());
    expect(await served.get(brand, plan.id)).toEqual(plan);
    expect(await served.all(brand)).toEqual([plan]);
  } finally {
    served.accounts.isDown = false;
  }
});
