import { callContext, newBrand, planInput, servePlans, shortPlanInput, type ServedDatabase } from "../../test/serve-plans.ts";

let served: ServedDatabase;
beforeAll(async () => {
  served = await servePlans({ pendingMax: 3 });
});
afterAll(() => served.stop());

it("the same request_id makes a plan of its own for each brand, whatever the other asked for", async () => {
  const [ours, theirs] = [newBrand(), newBrand()];
  const input = planInput();
  const [mine, same] = [await served.prepare(ours, input), await served.prepare(theirs, input)];
  expect([mine.replayed, same.replayed]).toEqual([false, false]);
  expect(same.plan.id).not.toBe(mine.plan.id);
  const { request_id } = input;
  const third = await served.prepare(newBrand(), shortPlanInput({ request_id, title: "Theirs" }));
  expect(third).toMatchObject({ plan: { title: "Theirs", request_id }, replayed: false });
  expect(await served.prepare(ours, input)).toEqual({ ...mine, replayed: true });
  expect(await served.prepare(theirs, input)).toEqual({ ...same, replayed: true });
});

it("a brand's plan is answered, listed, completed and cancelled for that brand only", async () => {
  const [ours, theirs] = [newBrand(), newBrand()];
  const { plan } = await served.prepare(ours, planInput());
  const { plan: their } = await served.prepare(theirs, planInput());
  for (const attempt of [served.get, served.cancel, served.complete]) {
    await expect(attempt(theirs, plan.id)).rejects.toMatchObject({ kind: "not_found", field: "plan_id" });
  }
  expect(await served.all(ours)).toEqual([plan]);
  expect(await served.all(theirs)).toEqual([their]);
  for (const state of ["completed", "cancelled"]) expect(await served.all(theirs, state)).toEqual([]);
});

it("another brand's plan and one there is not are refused one and the same, so ids cannot be probed", async () => {
  const { plan } = await served.prepare(newBrand(), planInput());
  const stranger = newBrand();
  await served.prepare(stranger, planInput());
  for (const attempt of [served.get, served.cancel, served.complete]) {
    const [theirs, nobodys] = await Promise.all(
      [plan.id, "pln_nobody"].map((id) =>
        attempt(stranger, id).catch(({ kind, message, field, details }) => ({ kind, message, field, details })),
      ),
    );
    expect(theirs).toEqual(nobodys);
    expect(theirs).toMatchObject({ kind: "not_found" });
  }
  const after = (after_id: string) =>
    served.plans
      .listPlans({ brand_id: stranger, page_size: 10, after_id }, callContext())
      .catch(({ kind, message, field }) => ({ kind, message, field }));
  expect(await after(plan.id)).toEqual(await after("pln_nobody"));
});

it("a cancelled plan is no conflict for another brand's request_id", async () => {
  const [ours, theirs, input] = [newBrand(), newBrand(), planInput()];
  const { plan } = await served.prepare(ours, input);
  await served.cancel(ours, plan.id);
  expect(await served.prepare(theirs, input)).toMatchObject({ replayed: false, plan: { status: "pending" } });
});

it("one brand at its limit leaves the others their own", async () => {
  const [full, other] = [newBrand(), newBrand()];
  for (let i = 0; i < 3; i += 1) await served.prepare(full, planInput());
  await expect(served.prepare(full, planInput())).rejects.toMatchObject({ kind: "pending_plan_limit" });
  for (let i = 0; i < 3; i += 1) expect(await served.prepare(other, planInput())).toMatchObject({ replayed: false });
});
