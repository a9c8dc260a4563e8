import { inspect } from "node:util";
import type { AppError } from "@brand-records/errors";
import type { Logger } from "@brand-records/telemetry";
import { CONFIRMED, MEMBER, newBrand, planInput, servedPlans } from "../../test/serve-plans.ts";

const NOTES = "ceiling-of-two-million";

/** Every log line, at the most verbose level. */
const logged: string[] = [];
const note = (...line: unknown[]): void => void logged.push(inspect(line, { depth: null, showHidden: true, maxStringLength: null }));
const log = { trace: note, debug: note, info: note, warn: note, error: note, isLevelEnabled: () => true } as unknown as Logger;

const served = servedPlans({ log, pendingMax: 2 });

/** Returns the response or the refusal of a call, with every property. */
const outcomeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    (response) => inspect(response, { depth: null, showHidden: true, maxStringLength: null }),
    ({ kind, message, field, details }: AppError) => `refused: ${JSON.stringify({ kind, message, field, details })}`,
  );

type Steps = readonly (readonly [expected: string, call: () => Promise<unknown>])[];

async function expectNoNotes(steps: Steps): Promise<void> {
  for (const [expected, call] of steps) {
    const outcome = await outcomeOf(call());
    expect(outcome).toContain(expected);
    expect(outcome).not.toContain(NOTES);
  }
}

it("notes are in no response, refusal or log line of what integrations call, nor in a closed plan", async () => {
  const [brand, input, other] = [newBrand(), planInput({ notes: NOTES }), planInput({ notes: NOTES })];
  const { id } = (await served.prepare(brand, input)).plan;
  const { id: otherId } = (await served.prepare(brand, other)).plan;
  const list = (status?: string) => served.plans.listPlans({ brand_id: brand, page_size: 0, status });
  const steps: Steps = [
    ["replayed: true", () => served.prepare(brand, input)],
    ["request_conflict", () => served.prepare(brand, { ...input, notes: `${NOTES}-changed` })],
    ["request_conflict", () => served.prepare(brand, { ...input, notes: null })],
    ["request_conflict", () => served.prepare(brand, { ...input, title: "Another" })],
    ["invalid_request", () => served.prepare(brand, { ...input, notes: `${NOTES}\0` })],
    ["invalid_request", () => served.prepare(brand, { ...input, notes: NOTES.repeat(300) })],
    ["pending_plan_limit", () => served.prepare(brand, planInput({ notes: NOTES }))],
    ["pending", () => served.get(brand, id)],
    ["pending", () => list()],
    ["completed", () => served.complete(brand, id)],
    ["completed", () => served.complete(brand, id)],
    ["replayed: true", () => served.prepare(brand, input)],
    ["plan_not_pending", () => served.cancel(brand, id)],
    ["cancelled", () => served.cancel(brand, otherId)],
    ["request_conflict", () => served.prepare(brand, other)],
    ["cancelled", () => list("cancelled")],
  ];
  await expectNoNotes(steps);
  expect(logged.length).toBeGreaterThanOrEqual(steps.length);
  expect(logged.join("\n")).not.toContain(NOTES);
});

it("notes are in a WorkspacePlan and nowhere else of the workspace's calls: no summary, other plan, refusal or log line", async () => {
  const [brand, input] = [newBrand(), planInput({ notes: null })];
  const { id } = (await served.prepare(brand, input)).plan;
  const update = (revision: number, changes: object) => served.update(brand, id, revision, { notes: NOTES, ...changes });
  const before = logged.length;

  for (const inWorkspace of [() => update(1, {}), () => served.getInWorkspace(brand, id), () => update(2, { title: "Edited" })])
    expect(await inWorkspace()).toMatchObject({ notes: NOTES });

  const closing = { brand_id: brand, plan_id: id, member: MEMBER, expected_revision: 3 };
  const { workspace_plan, ...others } = await served.plans.completePlan({ ...closing, ...CONFIRMED });
  expect(workspace_plan).toMatchObject({ notes: NOTES });
  const steps: Steps = [
    ["completed", async () => others],
    ["completed", () => served.plans.listPlanSummaries({ brand_id: brand, acting_member: MEMBER, page_size: 0 })],
    ["completed", () => served.get(brand, id)],
    ["completed", () => served.prepare(brand, input)],
    ["request_conflict", () => served.prepare(brand, { ...input, notes: NOTES })],
    ["plan_not_pending", () => update(4, { title: "Late" })],
    ["plan_not_pending", () => served.cancel(brand, id, MEMBER, 4)],
    ["invalid_request", () => update(4, { notes: `${NOTES}\0` })],
    ["invalid_request", () => update(4, { notes: NOTES.repeat(300) })],
    ["invalid_request", () => update(0, {})],
    ["not_found", () => served.update(newBrand(), id, 4, { notes: NOTES })],
  ];
  await expectNoNotes(steps);

  const other = (await served.prepare(brand, planInput({ notes: NOTES }))).plan.id;
  await served.update(brand, other, 1, { title: "Theirs" });
  await expectNoNotes([
    ["plan_changed", () => served.update(brand, other, 1, { notes: `${NOTES}-mine` })],
    ["plan_changed", () => served.cancel(brand, other)],
    ["plan_changed", () => served.complete(brand, other)],
  ]);
  expect(logged.length).toBeGreaterThan(before + steps.length);
  expect(logged.join("\n")).not.toContain(NOTES);
});

it("notes are in no log line when a statement fails in the database", async () => {
  const [brand, input] = [newBrand(), planInput({ notes: NOTES })];
  const { id } = (await served.prepare(brand, planInput({ notes: NOTES }))).plan;
  await served.db.query("alter table plans.plans add constraint refuse_all check (false) not valid");
  try {
    const before = logged.length;
    await expectNoNotes([
      ["internal_error", () => served.prepare(newBrand(), input)],
      ["internal_error", () => served.update(brand, id, 1, { title: "Edited" })],
    ]);
    expect(logged.length).toBeGreaterThan(before + 1);
    expect(logged.slice(before).join("\n")).not.toContain(NOTES);
  } finally {
    await served.db.query("alter table plans.plans drop constraint refuse_all");
  }
});
