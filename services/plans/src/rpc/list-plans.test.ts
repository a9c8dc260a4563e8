import { unnestRows } from "@brand-records/postgres";
import type { Plan } from "@brand-records/proto/plans/v1";
import {
  callContext,
  longestPlanInput,
  newBrand,
  PAGE_SIZE_MAX,
  servePlans,
  shortPlanInput,
  type ServedDatabase,
} from "../../test/serve-plans.ts";

let served: ServedDatabase;
beforeAll(async () => {
  served = await servePlans();
});
afterAll(() => served.stop());

const list = (brand_id: string, more: { status?: string; page_size?: number; after_id?: string | null } = {}) =>
  served.plans.listPlans({ brand_id, page_size: 0, ...more }, callContext());

async function prepareMany(brand: string, count: number): Promise<Plan[]> {
  const made: Plan[] = [];
  for (let i = 0; i < count; i += 1) made.push((await served.prepare(brand, shortPlanInput({ title: `Plan ${i}` }))).plan);
  return made;
}

/** Reads every page. Expects a next_after_id exactly on full pages. */
async function walk(brand: string, page_size: number, status?: string): Promise<Plan[]> {
  const seen: Plan[] = [];
  for (let after_id: string | null = null; ;) {
    const page: Awaited<ReturnType<typeof list>> = await list(brand, { page_size, after_id, ...(status !== undefined && { status }) });
    expect(page.plans.length).toBeLessThanOrEqual(page_size);
    expect(page.next_after_id).toBe(page.plans.length === page_size ? page.plans.at(-1)?.id : null);
    seen.push(...page.plans);
    if (page.next_after_id == null) return seen;
    after_id = page.next_after_id;
  }
}

const newestFirst = (plans: readonly Plan[]): Plan[] =>
  plans.toSorted((a, b) =>
    a.created_at === b.created_at ? Number(a.id < b.id) - Number(a.id > b.id) : a.created_at < b.created_at ? 1 : -1,
  );

it("returns every plan once, newest first, in pages of every size, including plans of the same millisecond", async () => {
  const brand = newBrand();
  const made = await prepareMany(brand, 9);
  // Three in one millisecond, four in another, and times in the reverse order of the ids.
  const times = [5, 3, 3, 3, 4, 1, 1, 1, 1].map((second) => `2026-01-01T00:00:0${second}.123Z`);
  const changes = unnestRows({ id: "text", at: "timestamptz" });
  await served.db.query(
    `update plans.plans p set created_at = t.at from ${changes.relation} where p.id = t.id`,
    changes.values(made.map(({ id }, n) => ({ id, at: times[n] ?? "" }))),
  );
  const expected = newestFirst(made.map((plan, i) => ({ ...plan, created_at: times[i] ?? "" })));
  for (let size = 1; size <= 11; size += 1) expect(await walk(brand, size)).toEqual(expected);
  expect(await walk(brand, PAGE_SIZE_MAX)).toEqual(expected);
});

it("returns only the plans in the given state", async () => {
  const brand = newBrand();
  const made = await prepareMany(brand, 6);
  const closed = new Map<string, Plan>();
  for (const { id } of made.slice(0, 2)) closed.set(id, await served.complete(brand, id));
  for (const { id } of made.slice(2, 3)) closed.set(id, await served.cancel(brand, id));
  const expected = newestFirst(made.map((plan) => closed.get(plan.id) ?? plan));
  for (const status of ["pending", "completed", "cancelled"]) {
    for (const size of [1, 2, 3, PAGE_SIZE_MAX])
      expect(await walk(brand, size, status)).toEqual(expected.filter((plan) => plan.status === status));
  }
  expect(await walk(brand, 4)).toEqual(expected);
});

it("returns every pending plan even if each page is completed before the next is read", async () => {
  const brand = newBrand();
  const made = await prepareMany(brand, 5);
  const seen: string[] = [];
  for (let after_id: string | null = null; ;) {
    const page: Awaited<ReturnType<typeof list>> = await list(brand, { status: "pending", page_size: 2, after_id });
    for (const { id } of page.plans) seen.push((await served.complete(brand, id)).id);
    if (page.next_after_id == null) break;
    after_id = page.next_after_id;
  }
  expect(seen).toEqual(newestFirst(made).map(({ id }) => id));
});

it("is not disturbed by plans made during a walk", async () => {
  const brand = newBrand();
  const made = await prepareMany(brand, 4);
  const first = await list(brand, { page_size: 2 });
  await prepareMany(brand, 3);
  const rest = await list(brand, { page_size: PAGE_SIZE_MAX, after_id: first.next_after_id ?? null });
  expect([...first.plans, ...rest.plans]).toEqual(newestFirst(made));
});

it("returns 20 plans by default, and at most 40", async () => {
  const brand = newBrand();
  await prepareMany(brand, 41);
  const page = await list(brand);
  expect(page.plans).toHaveLength(20);
  expect(page.next_after_id).toBe(page.plans[19]?.id);
  expect((await list(brand, { page_size: PAGE_SIZE_MAX })).plans).toHaveLength(40);
});

it("returns a full page of the longest plans", async () => {
  const brand = newBrand();
  for (let i = 0; i < PAGE_SIZE_MAX; i += 1) await served.prepare(brand, longestPlanInput());
  const { plans } = await list(brand, { page_size: PAGE_SIZE_MAX });
  expect(plans).toHaveLength(PAGE_SIZE_MAX);
  const { brief, requirements, platforms } = longestPlanInput();
  for (const plan of plans) expect(plan).toMatchObject({ brief, requirements, platforms });
});

it.each([
  ["page_size", { page_size: -1 }],
  ["page_size", { page_size: 41 }],
  ["status", { status: "" }],
  ["status", { status: "Pending" }],
  ["status", { status: "pending\0" }],
  ["after_id", { after_id: "" }],
  ["after_id", { after_id: "pln_\0" }],
  ["after_id", { after_id: "sub_1" }],
])("refuses the %s of %j", async (field, request) => {
  await expect(list(newBrand(), request)).rejects.toMatchObject({ kind: "invalid_request", field });
});

it("getPlan refuses what is not a plan's id", async () => {
  for (const id of ["", "pln_\0", "sub_1"])
    await expect(served.get(newBrand(), id)).rejects.toMatchObject({ kind: "invalid_request", field: "plan_id" });
});

it("refuses the after_id of an unknown plan or another brand's, rather than ending the list", async () => {
  const [brand, other] = [newBrand(), newBrand()];
  await prepareMany(brand, 2);
  const [theirs] = await prepareMany(other, 1);
  for (const after_id of ["pln_unknown", theirs?.id ?? ""]) {
    await expect(list(brand, { after_id })).rejects.toMatchObject({ kind: "invalid_request", field: "after_id" });
  }
});

it("reports every problem in one error", async () => {
  await expect(list("1", { status: "open", page_size: 41, after_id: "1" })).rejects.toMatchObject({
    kind: "invalid_request",
    details: [{ field: "brand_id" }, { field: "status" }, { field: "page_size" }, { field: "after_id" }],
  });
});
