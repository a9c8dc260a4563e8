import type { Plan } from "@brand-records/console-contract";
import { conflictsOf, unsavedValues } from "./draft.ts";
import { afterEvent, editsToSave, startEditing, type Editing, type EditingEvent } from "./editing.ts";
import { valuesOf } from "../plan-values.ts";

const PLAN: Plan = {
  id: "pln_1",
  status: "pending",
  title: "Rain",
  campaign_type: "blitz",
  planned_for: "2026-12-01",
  review_on: "2026-11-25",
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

const typed = (title: string): EditingEvent => ({ kind: "edited", field: "title", mine: title });

it("a newer plan replaces what is not edited, and nothing that is", () => {
  const { plan, draft, theirs: changes } = after(typed("Sun"), { kind: "read", plan: theirs({ goal: "Sales" }) });
  expect(plan.goal).toBe("Sales");
  expect(unsavedValues(draft)).toEqual({ title: "Sun" });
  expect(changes).toMatchObject({ fields: ["goal"], by: "bea@example.com" });
});

it("an older plan, which arrives late, changes nothing", () => {
  const newest = after({ kind: "read", plan: theirs({ title: "Snow" }, 3) });
  expect(afterEvent(newest, { kind: "read", plan: theirs({ title: "Wind" }) })).toBe(newest);
  expect(afterEvent(newest, { kind: "adopted", plan: theirs({ title: "Wind" }) }).plan.title).toBe("Snow");
});

it("both sides changed one field: it is a conflict until the person chooses", () => {
  const both = after(typed("Sun"), { kind: "read", plan: theirs({ title: "Wind" }) });
  expect(conflictsOf(both.draft, valuesOf(both.plan))).toEqual([{ field: "title", mine: "Sun", theirs: "Wind" }]);
  expect(unsavedValues(editsToSave(both, { title: "mine" }))).toEqual({ title: "Sun" });
  const saving = afterEvent(both, { kind: "save_started", choices: { title: "theirs" } });
  expect(unsavedValues(saving.draft)).toEqual({});
  // The person has seen it.
  expect(saving.theirs?.fields).toEqual([]);
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
  expect(unsavedValues(saved.draft)).toEqual({ title: "Sun and rain" });
  expect(saved.theirs).toBeUndefined();
  expect(conflictsOf(saved.draft, valuesOf(saved.plan))).toEqual([]);
});

it("somebody else was first: their change is shown, and mine stay edits of the newer plan", () => {
  const saving = after(typed("Sun"), { kind: "save_started", choices: {} });
  const outdated = afterEvent(saving, { kind: "outdated", plan: theirs({ goal: "Sales" }), mine: saving.draft });
  expect(outdated.theirs?.fields).toEqual(["goal"]);
  expect(unsavedValues(outdated.draft)).toEqual({ title: "Sun" });
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
