import { inspect } from "node:util";
import type { AppError } from "@brand-records/errors";
import type { Logger } from "@brand-records/telemetry";
import { callContext, newBrand, planInput, servePlans, type ServedDatabase } from "../../test/serve-plans.ts";

const NOTES = "ceiling-of-two-million";

/** Every log line, at the most verbose level. */
const logged: string[] = [];
const note = (...line: unknown[]): void => void logged.push(inspect(line, { depth: null, showHidden: true, maxStringLength: null }));
const log = { trace: note, debug: note, info: note, warn: note, error: note, isLevelEnabled: () => true } as unknown as Logger;

let served: ServedDatabase;
beforeAll(async () => {
  served = await servePlans({ log, pendingMax: 2 });
});
afterAll(() => served.stop());

/** Returns the response or the refusal of a call, with every property. */
const outcomeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    (response) => inspect(response, { depth: null, showHidden: true, maxStringLength: null }),
    ({ kind, message, field, details }: AppError) => `refused: ${JSON.stringify({ kind, message, field, details })}`,
  );

it("notes are in no response, refusal or log line of any method", async () => {
  const [brand, input, other] = [newBrand(), planInput({ notes: NOTES }), planInput({ notes: NOTES })];
  const { id } = (await served.prepare(brand, input)).plan;
  const { id: otherId } = (await served.prepare(brand, other)).plan;
  const list = (status?: string) => served.plans.listPlans({ brand_id: brand, page_size: 0, status }, callContext());
  const steps: [string, () => Promise<unknown>][] = [
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
  for (const [expected, step] of steps) {
    const outcome = await outcomeOf(step());
    expect(outcome).toContain(expected);
    expect(outcome).not.toContain(NOTES);
  }
  expect(logged.length).toBeGreaterThanOrEqual(steps.length);
  expect(logged.join("\n")).not.toContain(NOTES);
});

it("notes are in no log line when a statement fails in the database", async () => {
  const input = planInput({ notes: NOTES });
  await served.db.query("alter table plans.plans add constraint refuse_all check (false) not valid");
  try {
    const before = logged.length;
    expect(await outcomeOf(served.prepare(newBrand(), input))).toMatch(/^refused: .*internal_error((?!ceiling).)*$/);
    expect(logged.length).toBeGreaterThan(before);
    expect(logged.slice(before).join("\n")).not.toContain(NOTES);
  } finally {
    await served.db.query("alter table plans.plans drop constraint refuse_all");
  }
});
