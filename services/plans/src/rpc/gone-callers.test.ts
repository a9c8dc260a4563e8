import { eventually } from "@brand-records/testkit";
import { callContext, newBrand, servePlans, shortPlanInput, type ServedDatabase } from "../../test/serve-plans.ts";

const CALL_MS = 500;

let served: ServedDatabase;
beforeAll(async () => {
  served = await servePlans();
});
afterAll(() => served.stop());

it("requests whose callers timed out while waiting for the brand's mutex make no plan", async () => {
  const brand = newBrand();
  await served.prepare(brand, shortPlanInput());
  const responses: Promise<unknown>[] = [];
  await served.db.transaction(async (sql) => {
    await sql.query("select from plans.brand_locks where brand_id = $1 for update", [brand]);
    // The first holds the brand's mutex and waits for the row lock; the others wait for the mutex.
    for (let count = 0; count < 20; count += 1) {
      responses.push(
        served.plans.preparePlan({ brand_id: brand, input: shortPlanInput() }, callContext(CALL_MS)).catch((error: unknown) => error),
      );
    }
    for (const response of await Promise.all(responses)) expect(response).toMatchObject({ kind: "timeout" });
    // A deadline reaches plans as the time left, so its own deadline is later by what the call took to arrive.
    const goneAt = Date.now();
    await eventually(() => expect(Date.now()).toBeGreaterThan(goneAt + CALL_MS));
  });
  await eventually(() => expect(served.deps.brandMutex.size).toBe(0));
  // The one that held the mutex may still have finished.
  expect((await served.all(brand)).length).toBeLessThanOrEqual(2);
});
