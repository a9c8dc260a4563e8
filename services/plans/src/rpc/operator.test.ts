import { expectRefusal, MEMBER, newBrand, OTHER_MEMBER, planInput, servedPlans } from "../../test/serve-plans.ts";

/** One promise: an operator finds whose a plan is, can hand out and erase what plans say of a person, and delete a brand's plans. */

const served = servedPlans();

const findBrand = (id: string) => served.operator.findBrand({ id });
const prepared = async (brand: string): Promise<string> => (await served.prepare(brand, planInput())).plan.id;

it("finds the brand of a plan, pending or closed", async () => {
  const brand = newBrand();
  await prepared(newBrand());
  const id = await prepared(brand);
  expect(await findBrand(id)).toEqual({ brand_id: brand });
  await served.cancel(brand, id);
  expect(await findBrand(id)).toEqual({ brand_id: brand });
  await expect(findBrand("pln_unknown")).rejects.toMatchObject({
    kind: "not_found",
    message: "There is no plan with this id",
    field: "id",
  });
  for (const wrong of ["", "key_1", "PLN_1", "pln_\0", `pln_${"x".repeat(41)}`])
    await expectRefusal(findBrand(wrong), "invalid_request", "id");
});

it("looks up along indexes: a plan by its id alone, and plans that name a person", async () => {
  const plans = await served.db.transaction(async (sql) => {
    await sql.query("set local enable_seqscan = off");
    return [
      await sql.query("explain select brand_id from plans.plans where id = 'pln_1'"),
      await sql.query("explain select from plans.plans where closed_by = 'ana@ulap.example' or edited_by = 'ana@ulap.example'"),
    ];
  });
  for (const name of ["plans_id", "plans_closed_by", "plans_edited_by"]) expect(JSON.stringify(plans)).toContain(name);
});

describe("a person", () => {
  const pseudonym = `erased_${"7".repeat(26)}`;
  const erase = async (email: string) => (await served.operator.erasePerson({ email, pseudonym })).brand_ids;
  const rows = () => served.db.query<Record<string, unknown>>("select * from plans.plans order by id");
  async function exported(email: string, page_size: number) {
    const plans = [];
    for (let after_id: string | null | undefined; ;) {
      const page = await served.operator.exportPerson({ email, page_size, after_id });
      plans.push(...page.plans);
      after_id = page.next_after_id;
      if (after_id == null) return plans;
    }
  }

  it("is exported and erased with the plans of all brands, pending and closed, of which nothing else changes", async () => {
    const [ours = "", second = "", third = ""] = [newBrand(), newBrand(), newBrand()].toSorted();
    const cancelled = await prepared(ours);
    await served.cancel(ours, cancelled);
    const [edited, both] = [await prepared(second), await prepared(second)];
    for (const id of [edited, both]) await served.update(second, id, 1, { title: "Edited" });
    await served.complete(second, both, OTHER_MEMBER, 2);
    await served.cancel(third, await prepared(third), OTHER_MEMBER);

    const plans = await exported(MEMBER.toUpperCase(), 1);
    const expected = [
      { id: cancelled, status: "cancelled", closed_by_person: true, edited_by_person: false },
      { id: edited, status: "pending", closed_by_person: false, edited_by_person: true },
      { id: both, status: "completed", closed_by_person: false, edited_by_person: true },
    ];
    const ofThese = plans.filter(({ brand_id }) => [ours, second].includes(brand_id));
    expect(ofThese).toMatchObject(expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    expect(await exported(MEMBER, 1_000)).toEqual(plans);

    const before = await rows();
    const brands = await erase(MEMBER);
    expect(brands).toEqual(expect.arrayContaining([ours, second]));
    expect(brands).not.toContain(third);
    // Repeated, such as after an interruption, it returns the same brands.
    expect(await erase(MEMBER)).toEqual(brands);
    const replaced = (address: unknown) => (address === MEMBER ? pseudonym : address);
    expect(await rows()).toEqual(
      before.map(({ closed_by, edited_by, ...row }) => ({ ...row, closed_by: replaced(closed_by), edited_by: replaced(edited_by) })),
    );
    expect(await exported(MEMBER, 0)).toEqual([]);
  });

  it("is erased under a pseudonym alone", async () => {
    for (const wrong of ["", "bea@example.ph", "erased_1"])
      await expectRefusal(served.operator.erasePerson({ email: MEMBER, pseudonym: wrong }), "invalid_request", "pseudonym");
  });
});

it("deletes a brand's plans, pending and closed, also one that is being made meanwhile, and none of another brand", async () => {
  const [brand, other] = [newBrand(), newBrand()];
  const kept = await prepared(other);
  await served.cancel(brand, await prepared(brand));
  const deleteData = () => served.operator.deleteBrandData({ brand_id: brand });
  const simultaneous = Array.from({ length: 5 }, () => served.prepare(brand, planInput()).catch(() => undefined));
  const [{ deleted, done }] = await Promise.all([deleteData(), ...simultaneous]);
  expect(done).toBe(true);
  expect(deleted[0]?.rows).toBeGreaterThan(0);
  // What was made afterwards is found by a repetition, which is what the final round is.
  await deleteData();
  expect(await deleteData()).toEqual({ deleted: [], done: true, waiting_for: null });
  for (const table of ["plans", "brand_locks"])
    expect(await served.db.query(`select brand_id from plans.${table} where brand_id = any($1)`, [[brand, other]])).toEqual([
      { brand_id: other },
    ]);
  expect((await served.all(other)).map(({ id }) => id)).toEqual([kept]);
});
