import { parsePlanInput } from "@brand-records/campaign-plan";
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

it("makes no plan for a caller whose deadline passed while others had their turn, and makes it when asked again", async () => {
  const { parts } = served;
  const brand = newBrand();
  const before = Promise.withResolvers<void>();
  const ahead = parts.brandMutex.run(brand, () => before.promise);
  const gone = preparePlan(parts, brand, input, Date.now());
  before.resolve();
  await ahead;
  await expect(gone).rejects.toMatchObject({ kind: "timeout" });
  expect(await served.all(brand)).toEqual([]);
  await eventually(() => expect(parts.brandMutex.size).toBe(0));
  await expect(preparePlan(parts, brand, input, Date.now() + 20_000)).resolves.toMatchObject({ replayed: false });
});

it("answers a plan that is there whatever the order in which its input is written", async () => {
  const brand = newBrand();
  const { plan } = await preparePlan(served.parts, brand, input, Date.now() + 20_000);
  const reversed = parsePlanInput(Object.fromEntries(Object.entries(input).toReversed()));
  await expect(preparePlan(served.parts, brand, reversed, Date.now() + 20_000)).resolves.toEqual({ plan, replayed: true });
});
