import { randomUUID } from "node:crypto";
import type { AppError } from "@brand-records/errors";
import type { PlanInput } from "@brand-records/proto/plans/v1";
import { eventually, losingCommitAnswer } from "@brand-records/testkit";
import { callContext, expectRefusal, newBrand, planInput, refusalOf, servedPlans, shortPlanInput } from "../../test/serve-plans.ts";

const notices: object[] = [];
const served = servedPlans({ onPrepared: (plan) => void notices.push(plan) });

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

  it("makes a plan from the required fields alone, of any number of brands with one request_id", async () => {
    const input = shortPlanInput();
    for (const brand of [newBrand(), newBrand()]) {
      const { plan, replayed } = await served.prepare(brand, input);
      expect([replayed, plan]).toMatchObject([false, { brand_id: brand, summary: null, brief: null, requirements: [], platforms: [] }]);
    }
  });

  it("stores the notes for the workspace and in the input that retries are compared with", async () => {
    const input = planInput({ notes: " Private,\nas it was written " });
    const { plan } = await served.prepare(newBrand(), input);
    const rows = await served.db.query("select notes, input from plans.plans where id = $1", [plan.id]);
    const { planning_budget_centavos: _, ...rest } = input;
    expect(rows).toEqual([{ notes: input.notes, input: { ...rest, planning_budget: 25_000.5 } }]);
  });

  it("stores text unchanged: white space, control characters, decomposed letters, SQL, JSON", async () => {
    const texts = [" two  spaces ", "\t", "cafe\u0301", "caf\u00E9", "\u0001\u007F\uFEFF", "'; drop table plans.plans; --", '{"a":null}'];
    for (const text of texts) {
      const line = text.replaceAll(/\p{Cc}/gu, "");
      const input = planInput({
        title: `caf\u00E9 ${line}`,
        goal: `cafe\u0301 ${text}`,
        summary: text,
        brief: text,
        requirements: [text, ""],
        platforms: [line],
        notes: text,
      });
      const brand = newBrand();
      expect((await served.prepare(brand, input)).plan).toMatchObject(withoutNotes(input));
      expect(await served.prepare(brand, input)).toMatchObject({ replayed: true });
    }
  });

  it.each([
    ...[1, 29, 123_456_789, 100_000_000_000].map((planning_budget_centavos) => ({ planning_budget_centavos })),
    ...["0001-01-01", "1582-10-10", "9999-12-31"].map((date) => ({ planned_for: date, review_on: date })),
  ])("stores %j exactly, whatever today's date", async (given) => {
    const [brand, input] = [newBrand(), planInput(given)];
    expect((await served.prepare(brand, input)).plan).toMatchObject(given);
    expect(await served.prepare(brand, input)).toMatchObject({ replayed: true });
  });
});

it("a repeated request is a conflict once its plan is cancelled, with the same or another input", async () => {
  const [brand, input] = [newBrand(), planInput()];
  const { plan } = await served.prepare(brand, input);
  const cancelled = await served.cancel(brand, plan.id);
  const refusal = { kind: "request_conflict", field: "request_id", message: expect.stringContaining("was cancelled") as string };
  for (const repeated of [input, { ...input, title: "Another" }])
    await expect(served.prepare(brand, repeated)).rejects.toMatchObject(refusal);
  expect(await served.all(brand)).toEqual([cancelled]);
});

describe("a request_id used with another input", () => {
  it("is a conflict that names each field that was added", async () => {
    const [brand, short] = [newBrand(), shortPlanInput()];
    await served.prepare(brand, short);
    for (const field of ["summary", "brief", "requirements", "platforms", "notes"] as const)
      await expect(served.prepare(brand, { ...short, [field]: planInput()[field] })).rejects.toMatchObject(conflict(field));
  });

  it("is a conflict that names exactly the changed fields", async () => {
    const [brand, input] = [newBrand(), planInput()];
    await served.prepare(brand, input);
    const { request_id } = input;
    const error = await refusalOf(served.prepare(brand, shortPlanInput({ request_id, title: "Another", planning_budget_centavos: 1 })));
    const { details } = conflict("title", "planning_budget", "summary", "brief", "requirements", "platforms", "notes");
    const message = new RegExp(details.map(({ field }) => `(?=.*${field})`).join(""));
    expect(error).toMatchObject({ kind: "request_conflict", field: "request_id", message: expect.stringMatching(message) as string });
    expect(new Set((error as AppError).details)).toEqual(new Set(details));
  });
});

it("makes no plan for callers who timed out while they waited for the brand's mutex, and makes it when they retry", async () => {
  const [brand, input] = [newBrand(), shortPlanInput()];
  const callMs = 500;
  await served.prepare(brand, shortPlanInput());
  await served.db.transaction(async (sql) => {
    await sql.query("select from plans.brand_locks where brand_id = $1 for update", [brand]);
    // The first holds the brand's mutex and waits for the row lock; the others wait for the mutex.
    const inputs = [input, ...Array.from({ length: 19 }, () => shortPlanInput())];
    const calls = inputs.map((each) => served.plans.preparePlan({ brand_id: brand, input: each }, callContext(callMs)));
    await Promise.all(calls.map((call) => expectRefusal(call, "timeout")));
    // A deadline reaches plans as the time left, so its own deadline is later by what the call took to arrive.
    const goneAt = Date.now();
    await eventually(() => expect(Date.now()).toBeGreaterThan(goneAt + callMs));
  });
  await eventually(() => expect(served.deps.brandMutex.size).toBe(0));
  // The one that held the mutex may still have finished.
  expect((await served.all(brand)).length).toBeLessThanOrEqual(2);
  expect((await served.prepare(brand, input)).plan).toMatchObject({ request_id: input.request_id, status: "pending" });
});

it("is refused at the brand's limit, which is no other brand's, until a plan is closed", async () => {
  const small = await served.another({ pendingMax: 1 });
  const brand = newBrand();
  const { plan } = await small.prepare(brand, shortPlanInput());
  await expectRefusal(small.prepare(brand, shortPlanInput()), "pending_plan_limit");
  await small.prepare(newBrand(), shortPlanInput());
  await small.cancel(brand, plan.id);
  await small.prepare(brand, shortPlanInput());
});

describe("an invalid input", () => {
  it("is refused for what is wrong with it, also with the request_id of a plan", async () => {
    const [brand, input] = [newBrand(), planInput()];
    await served.prepare(brand, input);
    await expectRefusal(served.prepare(brand, { ...input, planning_budget_centavos: -1 }), "invalid_request", "planning_budget");
  });

  it("is refused with every problem in one error, and makes no plan", async () => {
    const [brand, request_id] = [newBrand(), randomUUID()];
    const input = shortPlanInput({
      request_id,
      goal: "a\0b",
      planned_for: "2026-02-30",
      planning_budget_centavos: 0,
      platforms: ["tiktok", "x".repeat(65)],
      notes: "x".repeat(5_001),
    });
    await expect(served.prepare(brand, input)).rejects.toMatchObject({
      kind: "invalid_request",
      field: "goal",
      details: ["goal", "planned_for", "planning_budget", "platforms[1]", "notes"].map((field) => ({ field })),
    });
    expect(await served.all(brand)).toEqual([]);
    expect(await served.prepare(brand, shortPlanInput({ request_id }))).toMatchObject({ replayed: false });
  });

  it("is refused if a required field is empty, as gRPC sends an absent one", async () => {
    const empty = shortPlanInput({ request_id: "", title: "", goal: "", campaign_type: "", planned_for: "", review_on: "" });
    const details = ["request_id", "title", "goal", "campaign_type", "planned_for", "review_on", "planning_budget"].map((field) => ({
      field,
    }));
    const invalid = { kind: "invalid_request", details };
    await expect(served.prepare(newBrand(), { ...empty, planning_budget_centavos: 0 })).rejects.toMatchObject(invalid);
    await expectRefusal(served.plans.preparePlan({ brand_id: newBrand(), input: null }), "invalid_request", "input");
  });

  it("is refused for what is no brand's id", async () => {
    for (const brand of ["", "BRD_1", "brd_\0", "pln_1", `brd_${"x".repeat(41)}`])
      await expectRefusal(served.prepare(brand, planInput()), "invalid_request", "brand_id");
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
    const { plan } = await served.plans.preparePlan(repeated);
    await served.plans.preparePlan(repeated);
    const notice = { brand_id: repeated.brand_id, plan_id: plan?.id };
    expect(notices).toEqual([notice, notice]);
  });

  it("is on its way to owners' mail once, and only with its plan", async () => {
    const repeated = request();
    const { plan } = await served.plans.preparePlan(repeated);
    await served.plans.preparePlan(repeated);
    const conflict = { ...repeated, input: { ...repeated.input, title: "Another" } };
    await expectRefusal(served.plans.preparePlan(conflict), "request_conflict");
    const queued = "select entry->>'action' as action, entry->>'subject_id' as plan_id from plans.audit_outbox where brand_id = $1";
    expect(await served.db.query(queued, [repeated.brand_id])).toEqual([{ action: "notice.plan_prepared", plan_id: plan?.id }]);
  });

  it("is written if the answer to the commit is lost", async () => {
    const losing = await served.another({ onPrepared, changed: losingCommitAnswer });
    const { plan, replayed } = await losing.plans.preparePlan(request());
    expect([replayed, notices]).toEqual([true, [expect.objectContaining({ plan_id: plan?.id })]]);
  });

  it("is not repeated after an hour, nor for a plan that is closed", async () => {
    const [old, closed] = [request(), request()];
    const plans = [await served.plans.preparePlan(old), await served.plans.preparePlan(closed)];
    const [oldId = "", closedId = ""] = plans.map(({ plan }) => plan?.id);
    await served.db.query("update plans.plans set created_at = created_at - interval '1 hour' where id = $1", [oldId]);
    await served.complete(closed.brand_id, closedId);
    notices.length = 0;
    for (const repeated of [old, closed]) await served.plans.preparePlan(repeated);
    expect(notices).toEqual([]);
  });
});
