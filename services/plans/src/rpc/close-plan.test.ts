import {
  callContext,
  CONFIRMED,
  MEMBER,
  OTHER_MEMBER,
  newBrand,
  planInput,
  servePlans,
  type ServedDatabase,
} from "../../test/serve-plans.ts";

let served: ServedDatabase;
beforeAll(async () => {
  served = await servePlans();
});
afterAll(() => served.stop());

async function pendingPlan() {
  const [brand, input] = [newBrand(), planInput()];
  return { brand, input, plan: (await served.prepare(brand, input)).plan };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Both ways to close a plan, on its first revision unless another is given. */
const close = {
  cancel: (brand_id: string, plan_id: string, member = MEMBER, expected_revision = 1) =>
    served.plans.cancelPlan({ brand_id, plan_id, member, expected_revision }, callContext()),
  complete: (brand_id: string, plan_id: string, member = MEMBER, expected_revision = 1) =>
    served.plans.completePlan({ brand_id, plan_id, member, expected_revision, ...CONFIRMED }, callContext()),
};

describe.each([
  { act: "complete", opposite: "cancel", state: "completed" },
  { act: "cancel", opposite: "complete", state: "cancelled" },
] as const)("$act a plan", ({ act, opposite, state }) => {
  it("records who did it and when, and changes nothing else", async () => {
    const { brand, plan } = await pendingPlan();
    const { plan: closed } = await close[act](brand, plan.id);
    expect(closed).toEqual({
      ...plan,
      status: state,
      closed_by: MEMBER,
      closed_at: expect.stringMatching(TIME),
      updated_at: closed?.closed_at,
    });
    expect(await served.get(brand, plan.id)).toEqual(closed);
  });

  it("returns the plan unchanged when the member repeats it", async () => {
    const { brand, plan } = await pendingPlan();
    const first = await close[act](brand, plan.id);
    expect(await close[act](brand, plan.id)).toEqual(first);
    // A second press of the button, on a page that has the revision from before or after.
    for (const revision of [2, 7]) expect(await close[act](brand, plan.id, MEMBER, revision)).toEqual(first);
  });

  it("tells another member who closed the plan and when, at any revision", async () => {
    const { brand, plan } = await pendingPlan();
    const { plan: closed } = await close[act](brand, plan.id);
    for (const revision of [1, 2]) {
      await expect(close[act](brand, plan.id, OTHER_MEMBER, revision)).rejects.toMatchObject({
        kind: "plan_not_pending",
        field: "plan_id",
        message: expect.stringContaining(`already ${state}, by ${MEMBER} at ${closed?.closed_at}`),
      });
    }
    expect(await served.get(brand, plan.id)).toEqual(closed);
  });

  it("returns the plan with its notes and its raised revision", async () => {
    const { brand, input, plan } = await pendingPlan();
    const { plan: closed, workspace_plan } = await close[act](brand, plan.id);
    expect(workspace_plan).toEqual({
      plan: closed,
      notes: input.notes,
      revision: 2,
      prepared_by: null,
      edited_by: null,
      edited_at: null,
    });
    expect(await served.getInWorkspace(brand, plan.id)).toEqual(workspace_plan);
  });

  it("refuses another revision with plan_changed, which says who changed the plan and when, and the plan stays pending", async () => {
    const { brand, plan } = await pendingPlan();
    const edited = await served.update(brand, plan.id, 1, { title: "Edited" }, OTHER_MEMBER);
    for (const revision of [1, 3]) {
      await expect(close[act](brand, plan.id, MEMBER, revision)).rejects.toMatchObject({
        kind: "plan_changed",
        field: "expected_revision",
        message: expect.stringContaining(`${OTHER_MEMBER} changed the plan at ${edited.edited_at}`),
      });
    }
    expect(await served.getInWorkspace(brand, plan.id)).toEqual(edited);
    expect((await close[act](brand, plan.id, MEMBER, 2)).plan?.status).toBe(state);
  });

  it(`is final: an attempt to ${opposite} the plan afterwards is refused with plan_not_pending`, async () => {
    const { brand, plan } = await pendingPlan();
    const { plan: closed } = await close[act](brand, plan.id);
    await expect(close[opposite](brand, plan.id)).rejects.toMatchObject({
      kind: "plan_not_pending",
      field: "plan_id",
      message: expect.stringContaining(state),
    });
    expect(await served.get(brand, plan.id)).toEqual(closed);
  });

  it("is final, even for direct SQL", async () => {
    const { brand, plan } = await pendingPlan();
    const { plan: closed } = await close[act](brand, plan.id);
    const other = act === "complete" ? "cancelled" : "completed";
    for (const change of [
      "status = 'pending', closed_at = null, closed_by = null",
      `status = '${other}'`,
      "status = 'pending'",
      "closed_by = 'eva@example.ph'",
      "closed_at = now() + interval '1 day'",
    ]) {
      await expect(served.db.query(`update plans.plans set ${change} where id = $1`, [plan.id])).rejects.toThrow(`is ${state} permanently`);
    }
    expect(await served.get(brand, plan.id)).toEqual(closed);
  });

  it("stores the member's address in lower case", async () => {
    const { brand, plan } = await pendingPlan();
    expect((await close[act](brand, plan.id, "Ana@Example.PH")).plan).toMatchObject({ closed_by: "ana@example.ph" });
  });

  it("reports every problem in one error", async () => {
    await expect(close[act]("1", "2", "3", 0)).rejects.toMatchObject({
      kind: "invalid_request",
      details: [{ field: "brand_id" }, { field: "plan_id" }, { field: "member" }, { field: "expected_revision" }],
    });
  });

  it("returns not_found for an unknown plan", async () => {
    await expect(close[act](newBrand(), "pln_unknown")).rejects.toMatchObject({ kind: "not_found", field: "plan_id" });
  });

  it("is done by one of 20 members at the same time, and the others learn by whom", async () => {
    const { brand, plan } = await pendingPlan();
    const members = Array.from({ length: 20 }, (_, i) => `member${i}@example.ph`);
    for (const member of members) served.accounts.members.add(member);
    const outcomes = await Promise.allSettled(members.map((member) => close[act](brand, plan.id, member)));
    const { closed_by: winner } = await served.get(brand, plan.id);
    for (const [at, outcome] of outcomes.entries()) {
      if (members[at] === winner) expect(outcome).toMatchObject({ status: "fulfilled" });
      else expect(outcome).toMatchObject({ reason: { kind: "plan_not_pending", message: expect.stringContaining(`by ${winner} at`) } });
    }
  });
});

it("a plan that is completed and cancelled concurrently ends in one state, the same for every caller", async () => {
  for (let round = 0; round < 10; round += 1) {
    const { brand, plan } = await pendingPlan();
    const calls = Array.from({ length: 10 }, (_, i) => close[i % 2 === round % 2 ? "complete" : "cancel"](brand, plan.id));
    const outcomes = await Promise.allSettled(calls);
    const current = await served.get(brand, plan.id);
    const fulfilled = outcomes.filter(({ status }) => status === "fulfilled");
    expect(fulfilled).toEqual(
      Array.from({ length: 5 }, () => ({ status: "fulfilled", value: expect.objectContaining({ plan: current }) })),
    );
    const refused = outcomes.filter(({ status }) => status === "rejected");
    for (const { reason } of refused as PromiseRejectedResult[]) expect(reason).toMatchObject({ kind: "plan_not_pending" });
  }
});

describe("completing a plan", () => {
  const NAMES = Object.keys(CONFIRMED);
  const complete = (brand_id: string, plan_id: string, confirmed: Partial<typeof CONFIRMED>) =>
    served.plans.completePlan({ brand_id, plan_id, member: MEMBER, expected_revision: 1, ...CONFIRMED, ...confirmed }, callContext());

  it.each([...NAMES.map((name) => [name]), NAMES].map((missing) => ({ missing })))(
    "needs all three confirmations: it names $missing if missing, and the plan stays pending",
    async ({ missing }) => {
      const { brand, plan } = await pendingPlan();
      const confirmed = Object.fromEntries(missing.map((name) => [name, false]));
      await expect(complete(brand, plan.id, confirmed)).rejects.toMatchObject({
        kind: "invalid_request",
        field: missing[0],
        details: missing.map((field) => ({ field, message: expect.stringContaining("confirmed") })),
      });
      expect(await served.get(brand, plan.id)).toEqual(plan);
    },
  );

  it("needs them even if the plan is already completed", async () => {
    const { brand, plan } = await pendingPlan();
    await served.complete(brand, plan.id);
    await expect(complete(brand, plan.id, { confirmed_pay: false })).rejects.toMatchObject({
      kind: "invalid_request",
      field: "confirmed_pay",
    });
  });
});

it("a closed plan always has its time and member, and a pending one neither, even for direct SQL", async () => {
  const { brand, plan } = await pendingPlan();
  for (const change of [
    "status = 'completed'",
    "closed_at = now(), closed_by = 'ana@example.ph'",
    "status = 'cancelled', closed_at = now()",
    "status = 'open'",
  ]) {
    await expect(served.db.query(`update plans.plans set ${change} where id = $1`, [plan.id])).rejects.toThrow("violates check constraint");
  }
  expect(await served.get(brand, plan.id)).toEqual(plan);
});
