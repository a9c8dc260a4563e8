import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryFiles } from "../docs/pages.ts";

/** One promise: what a method may and who may call it stands in its proto alone, and no method leaves it out. */

const BUF = join(process.cwd(), "node_modules/.bin/buf");
const folder = mkdtempSync(join(tmpdir(), "proto-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Generates from a changed copy of the proto files. @returns what buf shows when it fails */
function failureAfter(change: (source: string) => string): string {
  const copy = join(process.cwd(), "node_modules/.cache", `proto-${process.pid}`);
  try {
    cpSync("proto", copy, { recursive: true, filter: (path) => !/\/(?:dist|gen)$/.test(path) });
    const path = join(copy, "plans/v1/plans.proto");
    const source = readFileSync(path, "utf8");
    expect(change(source)).not.toBe(source);
    writeFileSync(path, change(source));
    const config = readFileSync(join(copy, "buf.gen.yaml"), "utf8").replaceAll("../node_modules", "../../../node_modules");
    writeFileSync(join(copy, "buf.gen.yaml"), config);
    execFileSync(BUF, ["generate", "-o", folder], { cwd: copy, stdio: "pipe" });
    return "nothing";
  } catch (error) {
    return String((error as { stderr?: Buffer }).stderr ?? error);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

it.each([
  ["idempotency_level", /    option idempotency_level = NO_SIDE_EFFECTS;\n/, "/plans.v1.PlansService/GetPlan has no idempotency_level"],
  ["option", /    option \(options\.v1\.method\) = [^;]+;\n/, "/plans.v1.PlansService/PreparePlan has no option (options.v1.method)"],
  ["actor", /, actor: ACTOR_CALLER/, "/plans.v1.PlansService/PreparePlan has no actor"],
] as const)("a method without its %s fails generation, which names it", (_, pattern, message) => {
  expect(failureAfter((source) => source.replace(pattern, ""))).toContain(message);
});

it.each([
  ['ACTOR_MEMBER, actor_field: "acting_member"', "ACTOR_MEMBER", "ListPlanSummaries needs actor_field: its request has acting_member"],
  ['actor_field: "member"', 'actor_field: "person"', "CancelPlan has no field person, its actor_field"],
  ["ACTOR_PERSON", "ACTOR_MEMBER", "FindBrand acts for a member, but its request names no brand_id"],
  ["ACTOR_PERSON", "ACTOR_CALLER", "FindBrand acts for the console, which may act for people only"],
  ["actor: ACTOR_CALLER", 'actor: ACTOR_CALLER, actor_field: "brand_id"', "PreparePlan acts for no person"],
  [',\n      entry: {action: "plan.complete", subject: "plan_id"}', "", "CompletePlan changes something for a person, and has no entry"],
  ['action: "plan.complete"', 'action: "complete"', "CompletePlan has an entry whose action is complete"],
  ['"plan.complete", subject: "plan_id"', '"plan.complete", subject: "plan"', "CompletePlan has no plan, the subject of its entry"],
  ['fields: "changes"', 'fields: "change"', "UpdatePlan has no field change, which its entry names"],
])("%s cannot become %s", (from, to, message) => {
  expect(failureAfter((source) => source.replace(from, to))).toContain(message);
});

it("no source says of a method what its proto says", () => {
  const sources = repositoryFiles().filter((path) => /\.tsx?$/.test(path) && /\/src\//.test(path) && !path.endsWith(".test.ts"));
  const found = sources.filter(
    (path) =>
      path !== "packages/rpc/src/methods.ts" && /\b(?:isIdempotent|idempotent|callers): (?:\[|true|false)/.test(readFileSync(path, "utf8")),
  );
  expect(sources.length).toBeGreaterThan(500);
  expect(found).toEqual([]);
});
