import { CONFIRMED, expectRefusal, MEMBER, newBrand, planInput, refusalOf, servedPlans } from "../../test/serve-plans.ts";

const served = servedPlans();

interface Target {
  readonly brand_id: string;
  readonly plan_id: string;
  readonly acting_member: string;
}

/** Every call of the workspace, as a person makes it. */
const CALLS: readonly [string, (target: Target) => Promise<unknown>][] = [
  ["listPlanSummaries", ({ brand_id, acting_member }) => served.plans.listPlanSummaries({ brand_id, acting_member, page_size: 0 })],
  ["getWorkspacePlan", (target) => served.plans.getWorkspacePlan(target)],
  ["updatePlan", ({ brand_id, plan_id, acting_member }) => served.update(brand_id, plan_id, 1, { title: "Edited" }, acting_member)],
  ["cancelPlan", ({ brand_id, plan_id, acting_member }) => served.cancel(brand_id, plan_id, acting_member)],
  [
    "completePlan",
    ({ acting_member: member, ...target }) => served.plans.completePlan({ ...target, member, expected_revision: 1, ...CONFIRMED }),
  ],
];

describe.each(CALLS)("%s", (_, call) => {
  async function target(): Promise<Target> {
    const brand_id = newBrand();
    const { plan } = await served.prepare(brand_id, planInput());
    return { brand_id, plan_id: plan.id, acting_member: MEMBER };
  }
  const expectUnchanged = async ({ brand_id, plan_id }: Target): Promise<void> =>
    expect(await served.getInWorkspace(brand_id, plan_id)).toMatchObject({ plan: { status: "pending" }, revision: 1 });

  it("serves a member, also if the address has capitals, and asks accounts for this one alone", async () => {
    const ours = await target();
    served.accounts.listed.length = 0;
    await call({ ...ours, acting_member: "Ana@Example.PH" });
    expect(served.accounts.listed).toEqual([1]);
  });

  it("refuses people of other brands and unknown brands alike, with not_found", async () => {
    const [ours, unknown] = [await target(), newBrand()];
    served.accounts.unknownBrands.add(unknown);
    const stranger = { ...ours, acting_member: "stranger@example.ph" };
    const targets = [stranger, { ...stranger, plan_id: "pln_unknown" }, { ...stranger, brand_id: unknown }];
    const [first, ...others] = await Promise.all(targets.map((one) => refusalOf(call(one))));
    expect(first).toMatchObject({ kind: "not_found" });
    expect(others).toEqual([first, first]);
    await expectUnchanged(ours);
  });

  it("refuses a removed member from the next call", async () => {
    const ours = await target();
    served.accounts.removed.add(`${ours.brand_id} ${MEMBER}`);
    await expectRefusal(call(ours), "not_found");
    served.accounts.removed.clear();
    await expectUnchanged(ours);
  });

  it("is unavailable while accounts is, and changes nothing", async () => {
    const ours = await target();
    served.accounts.isDown = true;
    try {
      await expect(call(ours)).rejects.toMatchObject({ kind: "unavailable", message: expect.stringContaining("nothing was changed") });
    } finally {
      served.accounts.isDown = false;
    }
    await expectUnchanged(ours);
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
