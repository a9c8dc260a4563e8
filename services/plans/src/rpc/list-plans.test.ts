import { unnestRows } from "@brand-records/postgres";
import type { Plan, PlanSummary } from "@brand-records/proto/plans/v1";
import {
  expectRefusal,
  longestPlanInput,
  MEMBER,
  newBrand,
  PAGE_SIZE_MAX,
  planInput,
  servedPlans,
  shortPlanInput,
} from "../../test/serve-plans.ts";

const served = servedPlans();

interface Page {
  readonly status?: string;
  readonly page_size?: number;
  readonly after_id?: string | null;
}
const list = (brand_id: string, page: Page = {}) => served.plans.listPlans({ brand_id, page_size: 0, ...page });
const listSummaries = (brand_id: string, page: Page = {}) =>
  served.plans.listPlanSummaries({ brand_id, acting_member: MEMBER, page_size: 0, ...page });

const prepareMany = async (brand: string, count: number): Promise<Plan[]> =>
  Promise.all(Array.from({ length: count }, async (_, i) => (await served.prepare(brand, shortPlanInput({ title: `Plan ${i}` }))).plan));

const newestFirst = (plans: readonly Plan[]): Plan[] =>
  plans.toSorted((a, b) =>
    a.created_at === b.created_at ? Number(a.id < b.id) - Number(a.id > b.id) : a.created_at < b.created_at ? 1 : -1,
  );

const CALLS = [
  { name: "listPlans", call: list, max: PAGE_SIZE_MAX },
  { name: "listPlanSummaries", call: listSummaries, max: 200 },
] as const;

describe.each(CALLS)("$name", ({ call, max }) => {
  /** Reads every page. Expects a next_after_id exactly on full pages. */
  async function walk(brand: string, page_size: number, status?: string): Promise<string[]> {
    const seen: string[] = [];
    for (let after_id: string | null = null; ;) {
      const page: Awaited<ReturnType<typeof call>> = await call(brand, { page_size, after_id, ...(status !== undefined && { status }) });
      const ids = page.plans.map(({ id }: { id: string }) => id);
      expect(ids.length).toBeLessThanOrEqual(page_size);
      expect(page.next_after_id).toBe(ids.length === page_size ? ids.at(-1) : null);
      seen.push(...ids);
      if (page.next_after_id == null) return seen;
      after_id = page.next_after_id;
    }
  }

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
    const expected = newestFirst(made.map((plan, i) => ({ ...plan, created_at: times[i] ?? "" }))).map(({ id }) => id);
    for (const size of [1, 2, 3, 4, 5, 8, 9, 10, max]) expect(await walk(brand, size)).toEqual(expected);
  });

  it("returns only the plans in the given state", async () => {
    const brand = newBrand();
    const made = newestFirst(await prepareMany(brand, 6)).map(({ id }) => id);
    const [completed, cancelled, pending] = [made.slice(0, 2), made.slice(2, 3), made.slice(3)];
    for (const id of completed) await served.complete(brand, id);
    for (const id of cancelled) await served.cancel(brand, id);
    for (const size of [1, 2, 3, max]) {
      for (const [status, ids] of Object.entries({ completed, cancelled, pending })) expect(await walk(brand, size, status)).toEqual(ids);
      expect(await walk(brand, size)).toEqual(made);
    }
  });

  it.each([
    ["page_size", { page_size: -1 }],
    ["page_size", { page_size: max + 1 }],
    ["status", { status: "" }],
    ["status", { status: "Pending" }],
    ["status", { status: "pending\0" }],
    ["after_id", { after_id: "" }],
    ["after_id", { after_id: "pln_\0" }],
    ["after_id", { after_id: "sub_1" }],
  ])("refuses the %s of %j", async (field, request) => {
    await expectRefusal(call(newBrand(), request), "invalid_request", field);
  });

  it("refuses the after_id of an unknown plan and of another brand's alike, rather than ending the list", async () => {
    const brand = newBrand();
    await prepareMany(brand, 2);
    const [theirs] = await prepareMany(newBrand(), 1);
    for (const after_id of ["pln_unknown", theirs?.id ?? ""]) {
      const message = "after_id is not a plan of this brand";
      await expect(call(brand, { after_id })).rejects.toMatchObject({ kind: "invalid_request", field: "after_id", message });
    }
  });
});

it("listPlans returns plans whole, 20 by default and at most 40", async () => {
  const brand = newBrand();
  const made = newestFirst(await prepareMany(brand, 41));
  expect(await list(brand)).toEqual({ plans: made.slice(0, 20), next_after_id: made[19]?.id });
  expect((await list(brand, { page_size: PAGE_SIZE_MAX })).plans).toHaveLength(40);
});

it("listPlanSummaries returns the short fields of each plan, with the exact number of pending ones", async () => {
  const brand = newBrand();
  const { plan: first } = await served.prepare(brand, planInput());
  const request = { brand_id: brand, input: longestPlanInput(), prepared_by: "Looker" };
  const { plan: second } = await served.plans.preparePlan(request);
  const closed = await served.complete(brand, first.id);
  const summaryOf = (plan: Plan, prepared_by: string | null): PlanSummary => {
    const { id, status, title, campaign_type, planned_for, review_on, planning_budget_centavos } = plan;
    const { created_at, updated_at, closed_at, closed_by } = plan;
    const shown = { id, status, title, campaign_type, planned_for, review_on, planning_budget_centavos };
    return { ...shown, prepared_by, created_at, updated_at, closed_at, closed_by };
  };
  const plans = [summaryOf(second ?? first, "Looker"), summaryOf(closed, null)];
  expect(await listSummaries(brand)).toEqual({ plans, next_after_id: null, pending: 1, pending_max: 200 });
  expect(await listSummaries(newBrand())).toEqual({ plans: [], next_after_id: null, pending: 0, pending_max: 200 });
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

it("returns a full page of the longest plans", async () => {
  const brand = newBrand();
  await Promise.all(Array.from({ length: PAGE_SIZE_MAX }, () => served.prepare(brand, longestPlanInput())));
  const { plans } = await list(brand, { page_size: PAGE_SIZE_MAX });
  expect(plans).toHaveLength(PAGE_SIZE_MAX);
  const { brief, requirements, platforms } = longestPlanInput();
  for (const plan of plans) expect(plan).toMatchObject({ brief, requirements, platforms });
});

it("reports every problem in one error", async () => {
  await expect(list("1", { status: "open", page_size: 41, after_id: "1" })).rejects.toMatchObject({
    kind: "invalid_request",
    details: ["brand_id", "status", "page_size", "after_id"].map((field) => ({ field })),
  });
});
