import { callContext, MEMBER, newBrand, OTHER_MEMBER, planInput, servePlans, type ServedDatabase } from "../../test/serve-plans.ts";

/** One promise: an operator can hand out, and erase, which plans a person closed or edited. */

let served: ServedDatabase;
beforeAll(async () => {
  served = await servePlans();
});
afterAll(() => served.stop());

const pseudonym = `erased_${"7".repeat(26)}`;

async function exported(email: string, page_size: number) {
  const plans = [];
  for (let after_id: string | null | undefined; ;) {
    const page = await served.operator.exportPerson({ email, page_size, after_id }, callContext());
    plans.push(...page.plans);
    after_id = page.next_after_id;
    if (after_id == null) return plans;
  }
}
const erase = async (email: string) => (await served.operator.erasePerson({ email, pseudonym }, callContext())).brand_ids;
const rows = () => served.db.query<Record<string, unknown>>("select * from plans.plans order by id");

it("exports and erases a person's plans of all brands, pending and closed, and changes nothing else of them", async () => {
  const [email, other] = [MEMBER, OTHER_MEMBER];
  const brands = [newBrand(), newBrand(), newBrand()].toSorted();
  const [ours, second, third] = brands as [string, string, string];
  const prepared = async (brand: string) => (await served.prepare(brand, planInput())).plan.id;
  const cancelled = await prepared(ours);
  await served.cancel(ours, cancelled, email);
  const edited = await prepared(second);
  await served.update(second, edited, 1, { title: "Edited" }, email);
  const both = await prepared(second);
  await served.update(second, both, 1, { title: "Edited" }, email);
  await served.complete(second, both, other, 2);
  const notTheirs = await prepared(third);
  await served.cancel(third, notTheirs, other);

  const plans = await exported(email.toUpperCase(), 1);
  expect(plans.map(({ id, status, closed_by_person, edited_by_person }) => [id, status, closed_by_person, edited_by_person])).toEqual(
    [
      [cancelled, "cancelled", true, false],
      [edited, "pending", false, true],
      [both, "completed", false, true],
    ].toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  );
  expect(await exported(email, 1_000)).toEqual(plans);

  const before = await rows();
  expect(await erase(email)).toEqual([ours, second].toSorted());
  // Repeated, such as after an interruption, it returns the same brands.
  expect(await erase(email)).toEqual([ours, second].toSorted());
  const replaced = (address: unknown) => (address === email ? pseudonym : address);
  expect(await rows()).toEqual(
    before.map(({ closed_by, edited_by, ...row }) => ({ ...row, closed_by: replaced(closed_by), edited_by: replaced(edited_by) })),
  );
  expect(await exported(email, 0)).toEqual([]);
});

it("refuses what is not a pseudonym", async () => {
  for (const wrong of ["", "bea@example.ph", "erased_1"]) {
    await expect(served.operator.erasePerson({ email: "ana@example.ph", pseudonym: wrong }, callContext())).rejects.toMatchObject({
      kind: "invalid_request",
      field: "pseudonym",
    });
  }
});
