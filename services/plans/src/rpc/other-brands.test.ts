import { callContext, newBrand, planInput, servePlans, type ServedDatabase } from "../../test/serve-plans.ts";

let served: ServedDatabase;
beforeAll(async () => {
  served = await servePlans({ pendingMax: 3 });
});
afterAll(() => served.stop());

it("a plan is returned, listed, completed and cancelled for its own brand only", async () => {
  const [ours, theirs] = [newBrand(), newBrand()];
  const { plan } = await served.prepare(ours, planInput());
  const { plan: otherPlan } = await served.prepare(theirs, planInput());
  for (const call of [served.get, served.cancel, served.complete]) {
    await expect(call(theirs, plan.id)).rejects.toMatchObject({ kind: "not_found", field: "plan_id" });
  }
  expect(await served.all(ours)).toEqual([plan]);
  expect(await served.all(theirs)).toEqual([otherPlan]);
  for (const state of ["completed", "cancelled"]) expect(await served.all(theirs, state)).toEqual([]);
});

it("another brand's plan and an unknown plan are refused with the same error, so that ids cannot be probed", async () => {
  const { plan } = await served.prepare(newBrand(), planInput());
  const stranger = newBrand();
  await served.prepare(stranger, planInput());
  for (const call of [served.get, served.cancel, served.complete]) {
    const [foreign, unknown] = await Promise.all(
      [plan.id, "pln_unknown"].map((id) =>
        call(stranger, id).catch(({ kind, message, field, details }) => ({ kind, message, field, details })),
      ),
    );
    expect(foreign).toEqual(unknown);
    expect(foreign).toMatchObject({ kind: "not_found" });
  }
  const listAfter = (after_id: string) =>
    served.plans
      .listPlans({ brand_id: stranger, page_size: 10, after_id }, callContext())
      .catch(({ kind, message, field }) => ({ kind, message, field }));
  expect(await listAfter(plan.id)).toEqual(await listAfter("pln_unknown"));
});

it("another brand can prepare a plan with the request_id of a cancelled plan", async () => {
  const [ours, theirs, input] = [newBrand(), newBrand(), planInput()];
  const { plan } = await served.prepare(ours, input);
  await served.cancel(ours, plan.id);
  expect(await served.prepare(theirs, input)).toMatchObject({ replayed: false, plan: { status: "pending" } });
});

it("a brand at its limit does not affect the limit of another", async () => {
  const [full, other] = [newBrand(), newBrand()];
  for (let i = 0; i < 3; i += 1) await served.prepare(full, planInput());
  await expect(served.prepare(full, planInput())).rejects.toMatchObject({ kind: "pending_plan_limit" });
  expect(await served.prepare(other, planInput())).toMatchObject({ replayed: false });
});
