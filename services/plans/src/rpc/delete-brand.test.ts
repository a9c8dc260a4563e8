import { callContext, newBrand, planInput, servePlans, type ServedDatabase } from "../../test/serve-plans.ts";

let served: ServedDatabase;
beforeAll(async () => {
  served = await servePlans();
});
afterAll(() => served.stop());

const deleteData = (brand_id: string) => served.operator.deleteBrandData({ brand_id }, callContext());

it("deletes a brand's plans, pending and closed, also one that is being made meanwhile, and none of another brand", async () => {
  const [brand, other] = [newBrand(), newBrand()];
  const { plan: kept } = await served.prepare(other, planInput());
  const { plan: closed } = await served.prepare(brand, planInput());
  await served.cancel(brand, closed.id);
  const simultaneous = Array.from({ length: 5 }, () => served.prepare(brand, planInput()).catch(() => undefined));
  const [{ deleted, done }] = await Promise.all([deleteData(brand), ...simultaneous]);
  expect(done).toBe(true);
  expect(deleted[0]?.rows).toBeGreaterThan(0);
  // What was made afterwards is found by a repetition, which is what the final round is.
  await deleteData(brand);
  expect(await deleteData(brand)).toEqual({ deleted: [], done: true, waiting_for: null });
  for (const table of ["plans", "brand_locks"]) {
    expect(await served.db.query(`select brand_id from plans.${table}`)).toEqual([{ brand_id: other }]);
  }
  expect((await served.all(other)).map(({ id }) => id)).toEqual([kept.id]);
});
