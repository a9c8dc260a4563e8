import { randomUUID } from "node:crypto";
import type { AppError } from "@brand-records/errors";
import type { PlanInput } from "@brand-records/proto/plans/v1";
import {
  callContext,
  longestPlanInput,
  newBrand,
  planInput,
  servePlans,
  shortPlanInput,
  type ServedDatabase,
} from "../../test/serve-plans.ts";

let served: ServedDatabase;
beforeAll(async () => {
  served = await servePlans();
});
afterAll(() => served.stop());

/** What an answer holds of it. */
function withoutNotes(input: PlanInput): Omit<PlanInput, "notes"> {
  const { notes: _, ...rest } = input;
  return rest;
}
const conflict = (...names: string[]) => ({
  kind: "request_conflict",
  field: "request_id",
  details: names.map((field) => ({ field, message: "is not what it was in the first request" })),
});
const edit = (planId: string, change: string): Promise<unknown[]> =>
  served.db.query(`update plans.plans set ${change} where id = $1`, [planId]);

describe("a new request_id", () => {
  it("makes a pending plan of everything that was asked for", async () => {
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

  it("makes a plan of the required fields alone", async () => {
    const { plan } = await served.prepare(newBrand(), shortPlanInput());
    expect(plan).toMatchObject({ summary: null, brief: null, requirements: [], platforms: [] });
  });

  it("keeps the notes for the workspace, beside what the request is compared with", async () => {
    const input = planInput({ notes: " Private,\nas it was written " });
    const { plan } = await served.prepare(newBrand(), input);
    const rows = await served.db.query("select notes, input from plans.plans where id = $1", [plan.id]);
    const { planning_budget_centavos: _, ...rest } = input;
    expect(rows).toEqual([{ notes: input.notes, input: { ...rest, planning_budget: 25_000.5 } }]);
  });

  it("keeps the largest plan there may be, to the character", async () => {
    const [brand, input] = [newBrand(), longestPlanInput()];
    expect((await served.prepare(brand, input)).plan).toMatchObject(withoutNotes(input));
    expect(await served.prepare(brand, input)).toMatchObject({ replayed: true });
  });

  it("keeps text as it is: white space, controls, decomposed letters, what looks like SQL or JSON", async () => {
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

  it.each([1, 10, 29, 510, 1_999, 123_456_789, 99_999_999_999, 100_000_000_000])(
    "keeps a budget of %i centavos to the centavo",
    async (centavos) => {
      const [brand, input] = [newBrand(), planInput({ planning_budget_centavos: centavos })];
      expect((await served.prepare(brand, input)).plan.planning_budget_centavos).toBe(centavos);
      expect(await served.prepare(brand, input)).toMatchObject({ replayed: true });
    },
  );

  it.each(["0001-01-01", "1582-10-10", "2024-02-29", "9999-12-31"])(
    "keeps the date %s to the day, whatever day it is today",
    async (date) => {
      const [brand, input] = [newBrand(), planInput({ planned_for: date, review_on: date })];
      expect((await served.prepare(brand, input)).plan).toMatchObject({ planned_for: date, review_on: date });
      expect(await served.prepare(brand, input)).toMatchObject({ replayed: true });
    },
  );
});

describe("the same request again", () => {
  it.each([
    ["of all fields", planInput],
    ["of the required fields", shortPlanInput],
  ])("%s answers the same plan, any number of times", async (_, make) => {
    const [brand, input] = [newBrand(), make()];
    const { plan } = await served.prepare(brand, input);
    for (let i = 0; i < 3; i += 1) expect(await served.prepare(brand, input)).toEqual({ plan, replayed: true });
    expect(await served.all(brand)).toEqual([plan]);
  });

  it("is the same with its request_id in upper case", async () => {
    const [brand, input] = [newBrand(), planInput()];
    const { plan } = await served.prepare(brand, { ...input, request_id: input.request_id.toUpperCase() });
    expect(plan.request_id).toBe(input.request_id);
    expect(await served.prepare(brand, input)).toEqual({ plan, replayed: true });
    expect(await served.prepare(brand, { ...input, request_id: input.request_id.toUpperCase() })).toEqual({ plan, replayed: true });
  });

  it.each(["summary", "brief", "notes"] as const)("is the same with %s absent, null or empty", async (field) => {
    const [brand, input] = [newBrand(), planInput()];
    const { plan } = await served.prepare(brand, { ...input, [field]: "" });
    for (const nothing of [null, undefined, ""]) {
      expect(await served.prepare(brand, { ...input, [field]: nothing })).toEqual({ plan, replayed: true });
    }
  });

  it("answers the plan as it is now, edited in the workspace, and is compared with what was asked for", async () => {
    const [brand, input] = [newBrand(), planInput()];
    const { plan } = await served.prepare(brand, input);
    await edit(plan.id, "title = 'Edited', platforms = '{youtube}', planning_budget_centavos = 1, summary = null, notes = 'Edited'");
    const edited = { ...plan, title: "Edited", platforms: ["youtube"], planning_budget_centavos: 1, summary: null };
    expect(await served.prepare(brand, input)).toEqual({ plan: edited, replayed: true });
    await expect(served.prepare(brand, { ...input, title: "Edited" })).rejects.toMatchObject(conflict("title"));
  });

  it("answers a completed plan as completed", async () => {
    const [brand, input] = [newBrand(), planInput()];
    const { plan } = await served.prepare(brand, input);
    const completed = await served.complete(brand, plan.id);
    expect(await served.prepare(brand, input)).toEqual({ plan: completed, replayed: true });
    await expect(served.prepare(brand, { ...input, goal: "Another" })).rejects.toMatchObject(conflict("goal"));
  });

  it("is a conflict once its plan was cancelled, the same input or another, and stays one", async () => {
    const [brand, input] = [newBrand(), planInput()];
    const { plan } = await served.prepare(brand, input);
    const cancelled = await served.cancel(brand, plan.id);
    for (const again of [input, { ...input, title: "Another" }, input]) {
      await expect(served.prepare(brand, again)).rejects.toMatchObject({
        kind: "request_conflict",
        field: "request_id",
        message: expect.stringContaining("was cancelled"),
      });
    }
    expect(await served.all(brand)).toEqual([cancelled]);
  });
});

describe("a request_id used with another input", () => {
  const CHANGES: [string, string, Partial<PlanInput>][] = [
    ["title", "changed", { title: "Summer launch " }],
    ["title", "in another case", { title: "summer launch" }],
    ["goal", "changed", { goal: "Reach two million views" }],
    ["campaign_type", "changed", { campaign_type: "ugc" }],
    ["planned_for", "changed", { planned_for: "2026-12-02" }],
    ["review_on", "changed", { review_on: "2026-11-21" }],
    ["planning_budget", "changed by a centavo", { planning_budget_centavos: 2_500_051 }],
    ["summary", "changed", { summary: "Clips of the relaunch" }],
    ["summary", "left out", { summary: null }],
    ["brief", "changed", { brief: "Show the product within two seconds" }],
    ["brief", "left out", { brief: "" }],
    ["requirements", "changed in one entry", { requirements: ["vertical video", "subtitles"] }],
    ["requirements", "in another order", { requirements: ["captions", "vertical video"] }],
    ["requirements", "with one more entry", { requirements: ["vertical video", "captions", ""] }],
    ["requirements", "with one entry fewer", { requirements: ["vertical video"] }],
    ["requirements", "left out", { requirements: [] }],
    ["platforms", "changed", { platforms: ["tiktok", "youtube"] }],
    ["platforms", "in another order", { platforms: ["instagram", "tiktok"] }],
    ["platforms", "left out", { platforms: [] }],
    ["notes", "changed", { notes: "Our ceiling is thrice that" }],
    ["notes", "left out", { notes: null }],
  ];

  it.each(CHANGES)("is a conflict that names %s, %s, and leaves the plan alone", async (field, _, change) => {
    const [brand, input] = [newBrand(), planInput()];
    const { plan } = await served.prepare(brand, input);
    await expect(served.prepare(brand, { ...input, ...change })).rejects.toMatchObject(conflict(field));
    expect(await served.prepare(brand, input)).toEqual({ plan, replayed: true });
  });

  it.each(["summary", "brief", "requirements", "platforms", "notes"] as const)("is a conflict that names %s, added", async (field) => {
    const [brand, short] = [newBrand(), shortPlanInput()];
    await served.prepare(brand, short);
    await expect(served.prepare(brand, { ...short, [field]: planInput()[field] })).rejects.toMatchObject(conflict(field));
  });

  it("is a conflict for letters composed otherwise: nothing is normalised", async () => {
    const [brand, input] = [newBrand(), planInput({ title: "caf\u00E9" })];
    await served.prepare(brand, input);
    await expect(served.prepare(brand, { ...input, title: "cafe\u0301" })).rejects.toMatchObject(conflict("title"));
  });

  it("is a conflict that names every field that changed, and no other", async () => {
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

describe("an input that is wrong", () => {
  it("is refused with every problem at once, and makes no plan", async () => {
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
    const wrong = [
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
      details: [...wrong, "notes"].map((field) => ({ field, message: expect.stringMatching(/^must/) })),
    });
    expect(await served.all(brand)).toEqual([]);
    expect(await served.prepare(brand, shortPlanInput({ request_id }))).toMatchObject({ replayed: false });
  });

  it("is refused where gRPC would have it empty", async () => {
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

  it.each([-1, 100_000_000_001, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
    "is refused with a budget of %i centavos",
    async (centavos) => {
      await expect(served.prepare(newBrand(), planInput({ planning_budget_centavos: centavos }))).rejects.toMatchObject({
        kind: "invalid_request",
        details: [{ field: "planning_budget" }],
      });
    },
  );

  it.each(["", "1", "BRD_1", "brd_", "brd_\0", "pln_1", `brd_${"x".repeat(41)}`])("is refused for the brand %j", async (brand) => {
    await expect(served.prepare(brand, planInput())).rejects.toMatchObject({ kind: "invalid_request", field: "brand_id" });
  });

  it("is refused also when its request_id has a plan already", async () => {
    const [brand, input] = [newBrand(), planInput()];
    await served.prepare(brand, input);
    await expect(served.prepare(brand, { ...input, title: "" })).rejects.toMatchObject({ kind: "invalid_request", field: "title" });
  });
});
