import { parsePlanInput } from "@brand-records/resources";
import { eventually } from "@brand-records/testkit";
import { newBrand, planInput, servePlans, type ServedDatabase } from "../../test/serve-plans.ts";
import { preparePlan } from "./prepare-plan.ts";

let served: ServedDatabase;
beforeAll(async () => {
  served = await servePlans();
});
afterAll(() => served.stop());

const input = parsePlanInput({
  request_id: planInput().request_id,
  title: "Summer launch",
  goal: "Reach a million views",
  campaign_type: "blitz",
  planned_for: "2026-12-01",
  review_on: "2026-11-20",
  planning_budget: 5.1,
});

it("makes no plan for a caller whose deadline passed while it waited, and makes it when the caller retries", async () => {
  const { deps } = served;
  const brand = newBrand();
  const blocker = Promise.withResolvers<void>();
  const ahead = deps.brandMutex.run(brand, () => blocker.promise);
  const late = preparePlan(deps, { brandId: brand, input, preparedBy: null }, Date.now());
  blocker.resolve();
  await ahead;
  await expect(late).rejects.toMatchObject({ kind: "timeout" });
  expect(await served.all(brand)).toEqual([]);
  await eventually(() => expect(deps.brandMutex.size).toBe(0));
  await expect(preparePlan(deps, { brandId: brand, input, preparedBy: null }, Date.now() + 20_000)).resolves.toMatchObject({
    replayed: false,
  });
});

it("returns the existing plan whatever the order of the input's fields", async () => {
  const brand = newBrand();
  const { plan } = await preparePlan(served.deps, { brandId: brand, input, preparedBy: null }, Date.now() + 20_000);
  const reversed = parsePlanInput(Object.fromEntries(Object.entries(input).toReversed()));
  await expect(preparePlan(served.deps, { brandId: brand, input: reversed, preparedBy: null }, Date.now() + 20_000)).resolves.toEqual({
    plan,
    replayed: true,
  });
});
