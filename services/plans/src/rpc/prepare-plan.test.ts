import { randomUUID } from "node:crypto";
import type { AppError } from "@brand-records/errors";
import type { PlanInput } from "@brand-records/proto/plans/v1";
import { losingCommitAnswer } from "@brand-records/testkit";
import { callContext, newBrand, planInput, servePlans, shortPlanInput, type ServedDatabase } from "../../test/serve-plans.ts";

const notices: object[] = [];
let served: ServedDatabase;
beforeAll(async () => {
  served = await servePlans({ onPrepared: (plan) => void notices.push(plan) });
});
afterAll(() => served.stop());

/** The part of the input that responses contain. */
function withoutNotes(input: PlanInput): Omit<PlanInput, "notes"> {
  const { notes: _, ...rest } = input;
  return rest;
}
const conflict = (...names: string[]) => ({
  kind: "request_conflict",
  field: "request_id",
  details: names.map((field) => ({ field, message: "differs from the first request" })),
});
const edit = (planId: string, change: string): Promise<unknown[]> =>
  served.db.query(`update plans.plans set ${change} where id = $1`, [planId]);

describe("a new request_id", () => {
  it("makes a pending plan with every field of the input", async () => {
    const [brand, input] = [newBrand(), planInput()];
    const { plan, replayed } = await served.prepare(brand, input);
    expect(replayed).toBe(false);
    expect(plan).toEqual({
      ...withoutNotes(input),
      id: expect.stringMatching(/^pln_[0-9a-z]{26}$/),
      brand_id: brand,
      status: "pending",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: plan.created_at,
      closed_at: null,
      closed_by: null,
    });
    expect(await served.get(brand, plan.id)).toEqual(plan);
    expect(await served.all(brand)).toEqual([plan]);
  });

  it("makes a plan from the required fields alone", async () => {
    const { plan } = await served.prepare(newBrand(), shortPlanInput());
    expect(plan).toMatchObject({ summary: null, brief: null, requirements: [], platforms: [] });
  });

  it("stores the notes for the workspace and in the input that retries are compared with", async () => {
    const input = planInput({ notes: " Private,\nas it was written " });
    const { plan } = await served.prepare(newBrand(), input);
    const rows = await served.db.query("select notes, input from plans.plans where id = $1", [plan.id]);
    const { planning_budget_centavos: _, ...rest } = input;
    expect(rows).toEqual([{ notes: input.notes, input: { ...rest, planning_budget: 25_000.5 } }]);
  });

  it("stores text unchanged: white space, control characters, decomposed letters, SQL, JSON", async () => {
    for (const text of [
      " two  spaces ",
      "\t",
      "cafe\u0301",
      "caf\u00E9",
      "\u0001\u007F\uFEFF",
      "'; drop table plans.plans; --",
      '{"a":null}',
    ]) {
      const input = planInput({
        title: `caf\u00E9 ${text.replaceAll(/\p{Cc}/gu, "")}`,
        goal: `cafe\u0301 ${text}`,
        summary: text,
        brief: text,
        requirements: [text, ""],
        platforms: [text.replaceAll(/\p{Cc}/gu, "")],
        notes: text,
      });
      const brand = newBrand();
      expect((await served.prepare(brand, input)).plan).toMatchObject(withoutNotes(input));
      expect(await served.prepare(brand, input)).toMatchObject({ replayed: true });
    }
  });

  it.each([1, 29, 123_456_789, 100_000_000_000])("stores a budget of %i centavos exactly", async (centavos) => {
    const [brand, input] = [newBrand(), planInput({ planning_budget_centavos: centavos })];
    expect((await served.prepare(brand, input)).plan.planning_budget_centavos).toBe(centavos);
    expect(await served.prepare(brand, input)).toMatchObject({ replayed: true });
  });

  it.each(["0001-01-01", "1582-10-10", "9999-12-31"])("stores the date %s exactly, whatever today's date", async (date) => {
    const [brand, input] = [newBrand(), planInput({ planned_for: date, review_on: date })];
    expect((await served.prepare(brand, input)).plan).toMatchObject({ planned_for: date, review_on: date });
    expect(await served.prepare(brand, input)).toMatchObject({ replayed: true });
  });
});

describe("a repeated request", () => {
  it("returns the plan as edited in the workspace, and is compared with the original input", async () => {
    const [brand, input] = [newBrand(), planInput()];
    const { plan } = await served.prepare(brand, input);
    await edit(plan.id, "title = 'Edited', platforms = '{youtube}', planning_budget_centavos = 1, summary = null, notes = 'Edited'");
    const edited = { ...plan, title: "Edited", platforms: ["youtube"], planning_budget_centavos: 1, summary: null };
    expect(await served.prepare(brand, input)).toEqual({ plan: edited, replayed: true });
    await expect(served.prepare(brand, { ...input, title: "Edited" })).rejects.toMatchObject(conflict("title"));
  });

  it("is a conflict once its plan is cancelled, with the same or another input", async () => {
    const [brand, input] = [newBrand(), planInput()];
    const { plan } = await served.prepare(brand, input);
    const cancelled = await served.cancel(brand, plan.id);
    for (const repeated of [input, { ...input, title: "Another" }, input]) {
      await expect(served.prepare(brand, repeated)).rejects.toMatchObject({
        kind: "request_conflict",
        field: "request_id",
        message: expect.stringContaining("was cancelled"),
      });
    }
    expect(await served.all(brand)).toEqual([cancelled]);
  });
});

describe("a request_id used with another input", () => {
  it.each(["summary", "brief", "requirements", "platforms", "notes"] as const)("is a conflict that names %s, added", async (field) => {
    const [brand, short] = [newBrand(), shortPlanInput()];
    await served.prepare(brand, short);
    await expect(served.prepare(brand, { ...short, [field]: planInput()[field] })).rejects.toMatchObject(conflict(field));
  });

  it("is a conflict that names exactly the changed fields", async () => {
    const [brand, input] = [newBrand(), planInput()];
    await served.prepare(brand, input);
    const { request_id } = input;
    const refusal = served.prepare(brand, shortPlanInput({ request_id, title: "Another", planning_budget_centavos: 1 }));
    const error = await refusal.catch((thrown: AppError) => thrown);
    const changed = ["title", "planning_budget", "summary", "brief", "requirements", "platforms", "notes"];
    expect(error).toMatchObject({ kind: "request_conflict", field: "request_id" });
    expect(new Set((error as AppError).details?.map(({ field }) => field))).toEqual(new Set(changed));
    for (const field of changed) expect((error as AppError).message).toContain(field);
  });
});

describe("an invalid input", () => {
  it("is refused with every problem in one error, and makes no plan", async () => {
    const [brand, request_id] = [newBrand(), randomUUID()];
    const input = shortPlanInput({
      request_id,
      title: "x".repeat(201),
      goal: "a\0b",
      campaign_type: "clips",
      planned_for: "2026-02-30",
      review_on: "2026-2-3",
      planning_budget_centavos: 0,
      brief: "x".repeat(20_001),
      requirements: Array.from({ length: 51 }, () => "x"),
      platforms: ["tiktok", "x".repeat(65)],
      notes: "x".repeat(5_001),
    });
    const invalid = [
      "title",
      "goal",
      "campaign_type",
      "planned_for",
      "review_on",
      "planning_budget",
      "brief",
      "requirements",
      "platforms[1]",
    ];
    await expect(served.prepare(brand, input)).rejects.toMatchObject({
      kind: "invalid_request",
      field: "title",
      details: [...invalid, "notes"].map((field) => ({ field, message: expect.stringMatching(/^must/) })),
    });
    expect(await served.all(brand)).toEqual([]);
    expect(await served.prepare(brand, shortPlanInput({ request_id }))).toMatchObject({ replayed: false });
  });

  it("is refused if a required field is empty, as gRPC sends an absent one", async () => {
    const empty = shortPlanInput({ request_id: "", title: "", goal: "", campaign_type: "", planned_for: "", review_on: "" });
    await expect(served.prepare(newBrand(), { ...empty, planning_budget_centavos: 0 })).rejects.toMatchObject({
      kind: "invalid_request",
      details: ["request_id", "title", "goal", "campaign_type", "planned_for", "review_on", "planning_budget"].map((field) => ({ field })),
    });
    await expect(served.plans.preparePlan({ brand_id: newBrand(), input: null }, callContext())).rejects.toMatchObject({
      kind: "invalid_request",
      field: "input",
    });
  });

  it.each(["", "1", "BRD_1", "brd_", "brd_\0", "pln_1", `brd_${"x".repeat(41)}`])("is refused for the brand %j", async (brand) => {
    await expect(served.prepare(brand, planInput())).rejects.toMatchObject({ kind: "invalid_request", field: "brand_id" });
  });
});

describe("its notice", () => {
  beforeEach(() => {
    notices.length = 0;
  });
  const onPrepared = (plan: object): void => void notices.push(plan);
  const request = () => ({ brand_id: newBrand(), input: shortPlanInput() });

  it("has ids alone, and is repeated with the request: the first may be lost with its process", async () => {
    const repeated = request();
    const { plan } = await served.plans.preparePlan(repeated, callContext());
    await served.plans.preparePlan(repeated, callContext());
    const notice = { brand_id: repeated.brand_id, plan_id: plan?.id };
    expect(notices).toEqual([notice, notice]);
  });

  it("is written if the answer to the commit is lost", async () => {
    const losing = await served.another({ onPrepared, changed: losingCommitAnswer });
    const { plan, replayed } = await losing.plans.preparePlan(request(), callContext());
    expect([replayed, notices]).toEqual([true, [expect.objectContaining({ plan_id: plan?.id })]]);
  });

  it("is not repeated after an hour, nor for a plan that is closed", async () => {
    const [old, closed] = [request(), request()];
    const plans = [await served.plans.preparePlan(old, callContext()), await served.plans.preparePlan(closed, callContext())];
    const [oldId = "", closedId = ""] = plans.map(({ plan }) => plan?.id);
    await served.db.query("update plans.plans set created_at = created_at - interval '1 hour' where id = $1", [oldId]);
    await served.complete(closed.brand_id, closedId);
    notices.length = 0;
    for (const repeated of [old, closed]) await served.plans.preparePlan(repeated, callContext());
    expect(notices).toEqual([]);
  });
});
