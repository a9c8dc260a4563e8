import { CONFIRMED, expectRefusal, MEMBER, newBrand, OTHER_MEMBER, refusalOf, servedPlans, settled } from "../../test/serve-plans.ts";

const served = servedPlans();

/** Both ways to close a plan, on its first revision unless another is given. */
const close = {
  cancel: (brand_id: string, plan_id: string, member = MEMBER, expected_revision = 1) =>
    served.plans.cancelPlan({ brand_id, plan_id, member, expected_revision }),
  complete: (brand_id: string, plan_id: string, member = MEMBER, expected_revision = 1) =>
    served.plans.completePlan({ brand_id, plan_id, member, expected_revision, ...CONFIRMED }),
};

/** Expects plans, for a statement in SQL that changes one, to throw this. */
const expectThrown = (id: string, change: string, message: string) =>
  expect(served.db.query(`update plans.plans set ${change} where id = $1`, [id])).rejects.toThrow(message);

describe.each([
  { act: "complete", opposite: "cancel", state: "completed" },
  { act: "cancel", opposite: "complete", state: "cancelled" },
] as const)("$act a plan", ({ act, opposite, state }) => {
  it("records who did it and when, raises the revision, and changes nothing else", async () => {
    const { brand, input, plan } = await served.pendingPlan();
    const { plan: closed, workspace_plan } = await close[act](brand, plan.id, "Ana@Example.PH");
    const closed_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
    expect(closed).toEqual({ ...plan, status: state, closed_by: MEMBER, closed_at, updated_at: closed?.closed_at });
    expect(await served.get(brand, plan.id)).toEqual(closed);
    const notEdited = { prepared_by: null, edited_by: null, edited_at: null };
    expect(workspace_plan).toEqual({ plan: closed, notes: input.notes, revision: 2, ...notEdited });
    expect(await served.getInWorkspace(brand, plan.id)).toEqual(workspace_plan);
  });

  it("is final: repeated, it returns the plan, and tells another member, and who does the opposite, who closed it and when", async () => {
    const { brand, plan } = await served.pendingPlan();
    const first = await close[act](brand, plan.id);
    // A second press of the button, on a page that has the revision from before or after.
    for (const revision of [1, 2, 7]) expect(await close[act](brand, plan.id, MEMBER, revision)).toEqual(first);
    const message = expect.stringContaining(`already ${state}, by ${MEMBER} at ${first.plan?.closed_at}`) as string;
    const refusal = { kind: "plan_not_pending", field: "plan_id", message };
    for (const revision of [1, 2]) await expect(close[act](brand, plan.id, OTHER_MEMBER, revision)).rejects.toMatchObject(refusal);
    await expect(close[opposite](brand, plan.id)).rejects.toMatchObject(refusal);
    expect(await served.get(brand, plan.id)).toEqual(first.plan);
  });

  it("refuses another revision with plan_changed, which says who changed the plan and when, and the plan stays pending", async () => {
    const { brand, plan } = await served.pendingPlan();
    const edited = await served.update(brand, plan.id, 1, { title: "Edited" }, OTHER_MEMBER);
    const message = expect.stringContaining(`${OTHER_MEMBER} changed the plan at ${edited.edited_at}`) as string;
    for (const revision of [1, 3]) {
      const refusal = { kind: "plan_changed", field: "expected_revision", message };
      await expect(close[act](brand, plan.id, MEMBER, revision)).rejects.toMatchObject(refusal);
    }
    expect(await served.getInWorkspace(brand, plan.id)).toEqual(edited);
    expect((await close[act](brand, plan.id, MEMBER, 2)).plan?.status).toBe(state);
  });

  it("is final, even for direct SQL", async () => {
    const { brand, plan } = await served.pendingPlan();
    const { plan: closed } = await close[act](brand, plan.id);
    for (const change of [
      "status = 'pending', closed_at = null, closed_by = null",
      `status = '${act === "complete" ? "cancelled" : "completed"}'`,
      "status = 'pending'",
      "closed_by = 'eva@example.ph'",
      "closed_at = now() + interval '1 day'",
    ])
      await expectThrown(plan.id, change, `is ${state} permanently`);
    expect(await served.get(brand, plan.id)).toEqual(closed);
  });

  it("reports every problem in one error", async () => {
    await expect(close[act]("1", "2", "3", 0)).rejects.toMatchObject({
      kind: "invalid_request",
      details: ["brand_id", "plan_id", "member", "expected_revision"].map((field) => ({ field })),
    });
  });

  it("is done by one of 20 members at the same time, and the others learn by whom", async () => {
    const { brand, plan } = await served.pendingPlan();
    const members = Array.from({ length: 20 }, (_, i) => `member${i}@example.ph`);
    const outcomes = await Promise.allSettled(members.map((member) => close[act](brand, plan.id, member)));
    const { closed_by: winner } = await served.get(brand, plan.id);
    const reason = { kind: "plan_not_pending", message: expect.stringContaining(`by ${winner} at`) as string };
    for (const [at, outcome] of outcomes.entries())
      expect(outcome).toMatchObject(members[at] === winner ? { status: "fulfilled" } : { reason });
  });
});

it("another brand's plan and an unknown one are neither returned nor closed, with the same error, so that ids cannot be probed", async () => {
  const { plan, brand } = await served.pendingPlan();
  const stranger = newBrand();
  for (const call of [served.get, close.cancel, close.complete]) {
    const [foreign, unknown] = await Promise.all([plan.id, "pln_unknown"].map((id) => refusalOf(call(stranger, id))));
    expect(foreign).toMatchObject({ kind: "not_found", field: "plan_id" });
    expect(foreign).toEqual(unknown);
  }
  expect(await served.all(brand)).toEqual([plan]);
  for (const id of ["", "pln_\0", "sub_1"]) await expectRefusal(served.get(brand, id), "invalid_request", "plan_id");
});

it("a plan that is completed and cancelled concurrently ends in one state, the same for every caller", async () => {
  for (let round = 0; round < 10; round += 1) {
    const { brand, plan } = await served.pendingPlan();
    const calls = Array.from({ length: 10 }, (_, i) => close[i % 2 === round % 2 ? "complete" : "cancel"](brand, plan.id));
    const { done, refused } = await settled(calls);
    const current = await served.get(brand, plan.id);
    expect(done.map((closed) => closed.plan)).toEqual(Array(5).fill(current));
    expect(refused.map(({ kind }) => kind)).toEqual(Array(5).fill("plan_not_pending"));
  }
});

const NAMES = Object.keys(CONFIRMED);

it.each([...NAMES.map((name) => [name]), NAMES].map((missing) => ({ missing })))(
  "completing a plan needs all three confirmations: it names $missing if missing, also of a completed plan, and closes none",
  async ({ missing }) => {
    const { brand, plan } = await served.pendingPlan();
    const ofPlan = { brand_id: brand, plan_id: plan.id, member: MEMBER, expected_revision: 1 };
    const complete = () =>
      served.plans.completePlan({ ...ofPlan, ...CONFIRMED, ...Object.fromEntries(missing.map((name) => [name, false])) });
    const details = missing.map((field) => ({ field, message: expect.stringContaining("confirmed") as string }));
    await expect(complete()).rejects.toMatchObject({ kind: "invalid_request", field: missing[0], details });
    expect(await served.get(brand, plan.id)).toEqual(plan);
    await served.complete(brand, plan.id);
    await expectRefusal(complete(), "invalid_request", missing[0]);
  },
);

it("a closed plan always has its time and member, and a pending one neither, even for direct SQL", async () => {
  const { brand, plan } = await served.pendingPlan();
  for (const change of [
    "status = 'completed'",
    "closed_at = now(), closed_by = 'ana@example.ph'",
    "status = 'cancelled', closed_at = now()",
    "status = 'open'",
  ])
    await expectThrown(plan.id, change, "violates check constraint");
  expect(await served.get(brand, plan.id)).toEqual(plan);
});
