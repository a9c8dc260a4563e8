import { eventually } from "@brand-records/testkit";
import { callContext, newBrand, servePlans, shortPlanInput, type ServedDatabase } from "../../test/serve-plans.ts";

let served: ServedDatabase;
beforeAll(async () => {
  served = await servePlans();
});
afterAll(() => served.stop());

it("requests whose callers have gone while they waited for their brand's turn make nothing", async () => {
  const brand = newBrand();
  await served.prepare(brand, shortPlanInput());
  const answers: Promise<unknown>[] = [];
  await served.db.transaction(async (sql) => {
    await sql.query("select from plans.brand_locks where brand_id = $1 for update", [brand]);
    // The first holds the brand's turn and waits for the row; the others wait for their turn.
    for (let count = 0; count < 20; count += 1) {
      answers.push(
        served.plans.preparePlan({ brand_id: brand, input: shortPlanInput() }, callContext(500)).catch((error: unknown) => error),
      );
    }
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ kind: "timeout" });
  });
  await eventually(() => expect(served.parts.brandMutex.size).toBe(0));
  // The one that had begun could still finish.
  expect((await served.all(brand)).length).toBeLessThanOrEqual(2);
});
