import type { PlanChanges } from "@brand-records/proto/plans/v1";
import {
  expectRefusal,
  longestPlanInput,
  MEMBER,
  newBrand,
  OTHER_MEMBER,
  planInput,
  servedPlans,
  shortPlanInput,
} from "../../test/serve-plans.ts";

const served = servedPlans();

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Prepares a plan and returns it as its workspace shows it. */
async function prepared(input = planInput()) {
  const brand = newBrand();
  const { plan } = await served.prepare(brand, input);
  return { brand, input, id: plan.id, before: await served.getInWorkspace(brand, plan.id) };
}

const texts = (...entries: string[]) => ({ texts: entries });

it("changes the fields that it names and no others, and records who made the edit and when", async () => {
  const { brand, id, before } = await prepared();
  const after = await served.update(brand, id, 1, { title: "Edited", requirements: texts("one", "two", "three") }, OTHER_MEMBER);
  expect(after).toEqual({
    ...before,
    plan: { ...before.plan, title: "Edited", requirements: ["one", "two", "three"], updated_at: after.edited_at },
    revision: 2,
    edited_by: OTHER_MEMBER,
    edited_at: expect.stringMatching(TIME),
  });
  expect(await served.getInWorkspace(brand, id)).toEqual(after);
  const { notes, ...changes } = { goal: "Sell out", planned_for: "2027-01-31", review_on: "2020-02-29", notes: "Ours" };
  expect(await served.update(brand, id, 2, { ...changes, notes, planning_budget_centavos: 1 })).toMatchObject({
    plan: { ...after.plan, ...changes, planning_budget_centavos: 1, updated_at: expect.stringMatching(TIME) },
    notes,
    revision: 3,
    edited_by: MEMBER,
  });
});

it('clears optional fields with "" and empty lists', async () => {
  const { brand, id, before } = await prepared();
  const cleared = { summary: "", brief: "", notes: "", requirements: texts(), platforms: texts() };
  const after = await served.update(brand, id, 1, cleared);
  expect(after).toMatchObject({ plan: { summary: null, brief: null, requirements: [], platforms: [] }, notes: null, revision: 2 });
  expect(after.plan).toMatchObject({ title: before.plan?.title, goal: before.plan?.goal });
  expect(await served.update(brand, id, 9, cleared)).toEqual(after);
});

it("a change that the plan already has succeeds at any revision, changes nothing and records nothing", async () => {
  const { brand, id } = await prepared();
  const changes = { title: "Edited", platforms: texts("tiktok") };
  const saved = await served.update(brand, id, 1, changes);
  for (const revision of [1, 2, 3, 2_147_483_647]) expect(await served.update(brand, id, revision, changes, OTHER_MEMBER)).toEqual(saved);
  expect(await served.update(brand, id, 1, {})).toEqual(saved);
  await served.complete(brand, id, MEMBER, 2);
  expect(await served.update(brand, id, 1, changes)).toEqual(await served.getInWorkspace(brand, id));
});

it("another revision is refused with plan_changed, which says who changed the plan and when, and saves nothing", async () => {
  const { brand, id } = await prepared();
  const theirs = await served.update(brand, id, 1, { title: "Theirs" }, OTHER_MEMBER);
  for (const revision of [1, 3]) {
    const message = expect.stringContaining(`${OTHER_MEMBER} changed the plan at ${theirs.edited_at}`) as string;
    const refusal = { kind: "plan_changed", field: "expected_revision", message };
    await expect(served.update(brand, id, revision, { title: "Mine", notes: "Mine" })).rejects.toMatchObject(refusal);
  }
  expect(await served.getInWorkspace(brand, id)).toEqual(theirs);
});

it.each(["complete", "cancel"] as const)("a closed plan (%s) refuses edits with plan_not_pending, at any revision", async (act) => {
  const { brand, id } = await prepared();
  const closed = await served[act](brand, id);
  const refusal = { kind: "plan_not_pending", message: expect.stringContaining(closed.status) as string };
  for (const revision of [1, 2]) await expect(served.update(brand, id, revision, { title: "Late" })).rejects.toMatchObject(refusal);
  expect(await served.get(brand, id)).toEqual(closed);
});

describe("a retry of the request that made the plan", () => {
  it("returns the plan as people have edited it", async () => {
    const { brand, input, id } = await prepared();
    const edited = await served.update(brand, id, 1, { title: "Edited", campaign_type: "ugc", notes: "", planning_budget_centavos: 7 });
    expect(await served.prepare(brand, input)).toEqual({ plan: edited.plan, replayed: true });
    await served.complete(brand, id, MEMBER, 2);
    expect(await served.prepare(brand, input)).toMatchObject({ plan: { title: "Edited", status: "completed" }, replayed: true });
  });

  it("is refused if it sends the edited content, which is not what it sent at first", async () => {
    const { brand, input, id } = await prepared();
    await served.update(brand, id, 1, { title: "Edited", notes: "Other" });
    const refusal = { kind: "request_conflict", details: [{ field: "title" }, { field: "notes" }] };
    await expect(served.prepare(brand, { ...input, title: "Edited", notes: "Other" })).rejects.toMatchObject(refusal);
  });

  it("keeps the name of the key that prepared the plan at first", async () => {
    const [brand, input] = [newBrand(), planInput()];
    const prepare = (prepared_by: string | null) => served.plans.preparePlan({ brand_id: brand, input, prepared_by });
    const { plan } = await prepare("Looker 😀");
    await prepare("Zapier");
    await prepare(null);
    expect(await served.getInWorkspace(brand, plan?.id ?? "")).toMatchObject({ prepared_by: "Looker 😀", revision: 1 });
    await expectRefusal(prepare("x".repeat(201)), "invalid_request", "prepared_by");
  });
});

describe("texts are saved byte for byte", () => {
  it.each([
    ["emoji and combining characters", "👩‍👩‍👧‍👦 e\u0301 vs \u00e9 🇵🇭"],
    ["right to left, with marks", "\u202eمرحبا\u202c שלום"],
    ["what means something to SQL, JSON and templates", '\'; drop table plans; -- \\u0000 {{7*7}} ${x} %s {},"null"'],
  ])("%s", async (_, text) => {
    const { brand, id } = await prepared();
    const line = text.replace(/[\t\r\n]/g, "");
    const content = { title: line, goal: text, summary: text, brief: text };
    const changes = { ...content, notes: text, requirements: texts(text, text), platforms: texts(line) };
    const after = await served.update(brand, id, 1, changes);
    expect(await served.getInWorkspace(brand, id)).toEqual(after);
    expect(after).toMatchObject({ plan: { ...content, requirements: [text, text], platforms: [line] }, notes: text });
  });

  it("the largest plan there can be", async () => {
    const { brand, id } = await prepared(shortPlanInput());
    const { requirements, platforms, request_id: _, ...longest } = longestPlanInput();
    const after = await served.update(brand, id, 1, { ...longest, requirements: texts(...requirements), platforms: texts(...platforms) });
    const { notes, ...content } = longest;
    expect(after).toMatchObject({ plan: { ...content, requirements, platforms }, notes, revision: 2 });
    expect(await served.update(brand, id, 2, { title: "Short" })).toMatchObject({ plan: { brief: longest.brief }, notes });
  });
});

describe("limits", () => {
  const long = (length: number): string => "😀".repeat(length);

  it.each<[string, Partial<PlanChanges>, string[]]>([
    ["an empty title", { title: "" }, ["title"]],
    ["a title of 201 characters", { title: long(201) }, ["title"]],
    ["NUL", { brief: "a\0b" }, ["brief"]],
    ["an unknown type", { campaign_type: "Blitz" }, ["campaign_type"]],
    ["a day that does not exist", { planned_for: "2026-02-30" }, ["planned_for"]],
    ["a budget of zero", { planning_budget_centavos: 0 }, ["planning_budget_centavos"]],
    ["a budget beyond a thousand million pesos", { planning_budget_centavos: 100_000_000_001 }, ["planning_budget_centavos"]],
    ["the 51st requirement", { requirements: texts(...Array.from({ length: 51 }, () => "x")) }, ["requirements"]],
    ["a requirement of 501 characters", { requirements: texts("a", "b", long(501)) }, ["requirements[2]"]],
    ["notes of 5,001 characters", { notes: long(5_001) }, ["notes"]],
    [
      "several at once",
      { title: "", planning_budget_centavos: 0, summary: long(2_001), requirements: texts("a", long(501)) },
      ["title", "planning_budget_centavos", "summary", "requirements[1]"],
    ],
  ])("refuses %s, names each field, and saves nothing", async (_, changes, fields) => {
    const { brand, id, before } = await prepared();
    await expect(served.update(brand, id, 1, { goal: "Other", ...changes })).rejects.toMatchObject({
      kind: "invalid_request",
      field: fields[0],
      message: expect.stringMatching(new RegExp(`^${fields[0]?.replace(/[[\]]/g, "\\$&")} must`)),
      details: fields.map((field) => ({ field })),
    });
    expect(await served.getInWorkspace(brand, id)).toEqual(before);
  });

  it("reports every problem of the request in one error", async () => {
    const request = { brand_id: "1", plan_id: "2", acting_member: "3", expected_revision: 0, changes: null };
    const details = ["brand_id", "plan_id", "acting_member", "expected_revision"].map((field) => ({ field }));
    await expect(served.plans.updatePlan(request)).rejects.toMatchObject({ kind: "invalid_request", details });
    const valid = { brand_id: newBrand(), plan_id: "pln_1", acting_member: MEMBER, expected_revision: 1 };
    await expectRefusal(served.plans.updatePlan({ ...valid, changes: null }), "invalid_request", "changes");
  });
});
