import { callContext, newBrand, planInput, servePlans, type ServedDatabase } from "../../test/serve-plans.ts";

let served: ServedDatabase;
beforeAll(async () => {
  served = await servePlans();
});
afterAll(() => served.stop());

const findBrand = (id: string) => served.operator.findBrand({ id }, callContext());

it("finds the brand of a plan, pending or closed", async () => {
  const [brand, other] = [newBrand(), newBrand()];
  await served.prepare(other, planInput());
  const { plan } = await served.prepare(brand, planInput());
  expect(await findBrand(plan.id)).toEqual({ brand_id: brand });
  await served.cancel(brand, plan.id);
  expect(await findBrand(plan.id)).toEqual({ brand_id: brand });
});

it("looks a plan up by its id alone along an index", async () => {
  const plan = await served.db.transaction(async (sql) => {
    await sql.query("set local enable_seqscan = off");
    return sql.query<Record<string, string>>("explain select brand_id from plans.plans where id = 'pln_1'");
  });
  expect(JSON.stringify(plan)).toContain("plans_id");
});

it("returns not_found for an unknown plan", async () => {
  await expect(findBrand("pln_unknown")).rejects.toMatchObject({
    kind: "not_found",
    message: "There is no plan with this id",
    field: "id",
  });
});

it.each(["", "1", "key_1", "brd_1", "PLN_1", "pln_", "pln_\0", `pln_${"x".repeat(41)}`])(
  "refuses %j, which is not a plan's id",
  async (id) => {
    await expect(findBrand(id)).rejects.toMatchObject({ kind: "invalid_request", field: "id" });
  },
);
