import { conflictsOf, decided, edited, rebased, saved, shownValues, standingChoices, unsavedValues, type Draft } from "./draft.ts";
import type { PlanField, PlanValue, PlanValues } from "../plan-values.ts";

const PLAN: PlanValues = {
  title: "Rain",
  goal: "Views",
  campaign_type: "blitz",
  planned_for: "2026-12-01",
  review_on: "2026-12-15",
  budget: "75,000.50",
  summary: "",
  brief: "",
  requirements: ["Vertical", "Captions"],
  platforms: ["tiktok"],
  notes: "",
};

const withEdits = (...edits: (readonly [PlanField, PlanValue])[]): Draft =>
  edits.reduce((draft: Draft, [field, mine]) => edited(draft, PLAN, field, mine), {});

it("saves the fields that differ, and nothing else", () => {
  const draft = withEdits(["title", "Sun"], ["goal", "Other"], ["goal", "Views"], ["budget", "75000.5"], ["notes", "x"]);
  expect(unsavedValues(draft, PLAN)).toEqual({ title: "Sun", notes: "x" });
});

it("keeps mine and theirs where only one side has changed a field, and where both made the same change", () => {
  const theirs = { ...PLAN, goal: "Sales", title: "Sun", budget: "80,000" };
  const draft = withEdits(["title", "Sun"], ["notes", "x"], ["budget", "80000.00"]);
  expect(conflictsOf(draft, theirs)).toEqual([]);
  const merged = rebased(draft, PLAN, theirs);
  expect(unsavedValues(merged, theirs)).toEqual({ notes: "x" });
  expect(shownValues(merged, theirs)).toEqual({ ...theirs, notes: "x" });
});

it("asks about a field that both have changed, each in another way; lists are one field", () => {
  const theirs = { ...PLAN, title: "Wind", requirements: ["Captions"] };
  const draft = withEdits(["title", "Sun"], ["requirements", ["Vertical"]], ["notes", "x"]);
  expect(conflictsOf(rebased(draft, PLAN, theirs), theirs)).toEqual([
    { field: "title", mine: "Sun", theirs: "Wind" },
    { field: "requirements", mine: ["Vertical"], theirs: ["Captions"] },
  ]);
  const choice = decided(draft, theirs, { title: "mine", requirements: "theirs" });
  expect(conflictsOf(choice, theirs)).toEqual([]);
  expect(unsavedValues(choice, theirs)).toEqual({ title: "Sun", notes: "x" });
  expect(shownValues(choice, theirs)).toEqual({ ...theirs, title: "Sun", notes: "x" });
  // A third person was faster than the decision.
  expect(conflictsOf(choice, { ...theirs, title: "Snow" })).toEqual([{ field: "title", mine: "Sun", theirs: "Snow" }]);
});

it("keeps a choice only as long as theirs is what the person chose from", () => {
  const made = { title: { side: "mine", theirs: "Wind" }, requirements: { side: "theirs", theirs: ["Captions"] } } as const;
  const conflicts = [
    { field: "title", mine: "Sun", theirs: "Snow" },
    { field: "requirements", mine: ["Vertical"], theirs: ["Captions"] },
    { field: "goal", mine: "Sales", theirs: "Other" },
  ] as const;
  expect(standingChoices(conflicts, made)).toEqual({ requirements: "theirs" });
  expect(standingChoices([{ ...conflicts[0], theirs: "Wind" }], made)).toEqual({ title: "mine" });
});

it("what is typed while a save is under way is an edit of what was saved, no conflict with oneself", () => {
  const typed = withEdits(["title", "Sun and rain"], ["notes", "x"]);
  const after = saved(typed, { title: "Sun", notes: "x" });
  expect(unsavedValues(after, { ...PLAN, title: "Sun", notes: "x" })).toEqual({ title: "Sun and rain" });
  expect(conflictsOf(after, { ...PLAN, title: "Sun", notes: "x" })).toEqual([]);
});

it("leaves out entries that were left empty, unless the plan was prepared with one", () => {
  expect(unsavedValues(withEdits(["requirements", ["Vertical", "Captions", "", " "]]), PLAN)).toEqual({});
  expect(unsavedValues(withEdits(["requirements", ["", "Captions"]]), PLAN)).toEqual({ requirements: ["Captions"] });
  const prepared = { ...PLAN, platforms: ["", "tiktok"] };
  expect(unsavedValues(edited({}, prepared, "platforms", ["", "tiktok", "youtube"]), prepared)).toEqual({
    platforms: ["", "tiktok", "youtube"],
  });
});
