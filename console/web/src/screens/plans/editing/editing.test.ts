import type { Plan } from "@brand-records/console-contract";
import { conflictsOf, unsavedValues, type Conflict } from "./draft.ts";
import { afterEvent, editsToSave, isEdit, startEditing, type Editing, type EditingEvent } from "./editing.ts";
import { valuesOf, type PlanValues } from "../plan-values.ts";

const PLAN: Plan = {
  id: "pln_1",
  brand_id: "brd_1",
  request_id: "00000000-0000-4000-8000-000000000000",
  status: "pending",
  title: "Rain",
  campaign_type: "blitz",
  planned_for: "2026-12-01",
  review_on: "2026-12-15",
  planning_budget_centavos: 7_500_050,
  prepared_by: "Assistant",
  created_at: "2026-11-23T00:00:00.000Z",
  updated_at: "2026-11-23T00:00:00.000Z",
  closed_at: null,
  closed_by: null,
  goal: "Views",
  summary: null,
  brief: null,
  requirements: ["Vertical"],
  platforms: ["tiktok"],
  notes: null,
  revision: 1,
  edited_by: null,
  edited_at: null,
};

/** The plan after another person's save. */
const theirs = (changes: Partial<Plan>, revision = 2): Plan => ({ ...PLAN, ...changes, revision, edited_by: "bea@example.com" });

const after = (...events: readonly EditingEvent[]): Editing => events.reduce(afterEvent, startEditing(PLAN));

const unsavedIn = ({ draft, plan }: Editing): Partial<PlanValues> => unsavedValues(draft, valuesOf(plan));
const conflictsIn = ({ draft, plan }: Editing): Conflict[] => conflictsOf(draft, valuesOf(plan));

const typed = (title: string): EditingEvent => ({ kind: "edited", field: "title", mine: title });

it("a newer plan replaces what is not edited, and nothing that is", () => {
  const { plan, draft, theirs: changes } = after(typed("Sun"), { kind: "read", plan: theirs({ goal: "Sales" }) });
  expect(plan.goal).toBe("Sales");
  expect(unsavedValues(draft, valuesOf(plan))).toEqual({ title: "Sun" });
  expect(changes).toMatchObject({ fields: ["goal"], by: "bea@example.com" });
});

it("an older plan, which arrives late, changes nothing", () => {
  const newest = after({ kind: "read", plan: theirs({ title: "Snow" }, 3) });
  expect(afterEvent(newest, { kind: "read", plan: theirs({ title: "Wind" }) })).toBe(newest);
  expect(afterEvent(newest, { kind: "adopted", plan: theirs({ title: "Wind" }) }).plan.title).toBe("Snow");
});

it("both sides changed one field: it is a conflict until the person chooses", () => {
  const both = after(typed("Sun"), { kind: "read", plan: theirs({ title: "Wind" }) });
  expect(conflictsIn(both)).toEqual([{ field: "title", mine: "Sun", theirs: "Wind" }]);
  expect(unsavedValues(editsToSave(both, { title: "mine" }), valuesOf(both.plan))).toEqual({ title: "Sun" });
  const saving = afterEvent(both, { kind: "save_started", choices: { title: "theirs" } });
  expect(unsavedIn(saving)).toEqual({});
  // The person has seen it.
  expect(saving.theirs?.fields).toEqual([]);
});

it("what the plan had before is an edit too once somebody else has changed it: typed back, it conflicts", () => {
  const back = after(typed("Sun"), { kind: "read", plan: theirs({ title: "Wind" }) }, typed("Rain"));
  expect(unsavedIn(back)).toEqual({ title: "Rain" });
  expect(conflictsIn(back)).toEqual([{ field: "title", mine: "Rain", theirs: "Wind" }]);
  expect(unsavedValues(editsToSave(back, { title: "mine" }), valuesOf(back.plan))).toEqual({ title: "Rain" });
  const third = afterEvent(back, { kind: "read", plan: theirs({ title: "Snow" }, 3) });
  expect(conflictsIn(third)).toEqual([{ field: "title", mine: "Rain", theirs: "Snow" }]);
});

it.each(["read", "adopted"] as const)("an edit that was taken back gives way to a plan that is %s", (kind) => {
  const newer = after(typed("Sun"), typed("Rain"), { kind, plan: theirs({ title: "Wind" }) });
  expect(newer.draft).toEqual({});
  expect(conflictsIn(newer)).toEqual([]);
});

it("what was saved is no edit any more, also if the service stores it in another form", () => {
  const saving = after(typed("Sun "), { kind: "save_started", choices: {} });
  const saved = afterEvent(saving, { kind: "saved", plan: theirs({ title: "Sun" }), sent: { title: "Sun " }, mine: saving.draft });
  expect(saved.draft).toEqual({});
});

it("the same value in another form is no edit since a save began", () => {
  const editing = after({ kind: "edited", field: "budget", mine: "80000" });
  expect(isEdit(editing, "budget", "80,000")).toBe(false);
  expect(isEdit(editing, "budget", "80,001")).toBe(true);
  expect(isEdit(editing, "title", "Rain")).toBe(false);
});

it("a plan that the page reads during a save waits: only the save knows which changes are its own", () => {
  const saving = after(typed("Sun"), { kind: "save_started", choices: {} });
  const mine = saving.draft;
  const read = afterEvent(saving, { kind: "read", plan: { ...theirs({ title: "Sun" }), edited_by: "me@example.com" } });
  expect(read).toBe(saving);
  const saved = afterEvent(read, { kind: "saved", plan: theirs({ title: "Sun" }), sent: { title: "Sun" }, mine });
  expect(saved.theirs).toBeUndefined();
  expect(afterEvent(saved, { kind: "save_ended" })).toMatchObject({ isSaving: false, draft: {}, plan: { revision: 2 } });
});

it("what is typed during a save stays the person's edit, and is no one else's change", () => {
  const saving = after(typed("Sun"), { kind: "save_started", choices: {} });
  const more = afterEvent(saving, typed("Sun and rain"));
  const saved = afterEvent(more, { kind: "saved", plan: theirs({ title: "Sun" }), sent: { title: "Sun" }, mine: saving.draft });
  expect(unsavedIn(saved)).toEqual({ title: "Sun and rain" });
  expect(saved.theirs).toBeUndefined();
  expect(conflictsIn(saved)).toEqual([]);
});

it("somebody else was first: their change is shown, and mine stay edits of the newer plan", () => {
  const saving = after(typed("Sun"), { kind: "save_started", choices: {} });
  const outdated = afterEvent(saving, { kind: "outdated", plan: theirs({ goal: "Sales" }), mine: saving.draft });
  expect(outdated.theirs?.fields).toEqual(["goal"]);
  expect(unsavedIn(outdated)).toEqual({ title: "Sun" });
});

it("a response of a completed plan closes it, although its revision is the same", () => {
  expect(after({ kind: "adopted", plan: { ...PLAN, status: "completed" } }).plan.status).toBe("completed");
});

it("a refused save shows its problems each time; discarding and another save forget them", () => {
  const refused: EditingEvent = { kind: "refused", problems: { title: "must not be empty" }, error: new Error("refused") };
  const twice = after(typed(""), refused, refused);
  expect(twice).toMatchObject({ refusals: 2, problems: { title: "must not be empty" } });
  expect(afterEvent(twice, { kind: "discarded" })).toMatchObject({ draft: {}, problems: {}, error: null });
  expect(afterEvent(twice, { kind: "save_started", choices: {} })).toMatchObject({ problems: {}, error: null });
});
