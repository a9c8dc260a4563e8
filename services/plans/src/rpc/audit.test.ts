import { METHODS } from "@brand-records/proto/methods";
import type { Plan } from "@brand-records/proto/plans/v1";
import type { CallContext } from "@brand-records/rpc";
import { STATED_CLIENT } from "@brand-records/testkit";
import { callContext, callOf, CONFIRMED, MEMBER, OTHER_MEMBER, servedPlans } from "../../test/serve-plans.ts";

/** One promise: what changes a plan and what the audit log says of it are one, and of a refusal the log says that it was one. */

const served = servedPlans();

interface Changing {
  readonly action: string;
  readonly fields: string[];
  call(plan: Plan, call?: CallContext): Promise<unknown>;
}

/** Names another member than the grant does. */
const requestOf = ({ brand_id, id: plan_id }: Plan) => ({ brand_id, plan_id, expected_revision: 1, member: OTHER_MEMBER });
const changes = { title: "Edited", platforms: { texts: ["tiktok"] }, requirements: null };

const CHANGING: Record<string, Changing> = {
  UpdatePlan: {
    action: "plan.update",
    fields: ["title", "platforms"],
    call: (plan, call) => served.plans.updatePlan({ ...requestOf(plan), acting_member: OTHER_MEMBER, changes }, call),
  },
  CancelPlan: {
    action: "plan.cancel",
    fields: [],
    call: (plan, call) => served.plans.cancelPlan(requestOf(plan), call),
  },
  CompletePlan: {
    action: "plan.complete",
    fields: [],
    call: (plan, call) => served.plans.completePlan({ ...requestOf(plan), ...CONFIRMED }, call),
  },
};

const entriesOf = async (brandId: string): Promise<object[]> => {
  // Notices take the same way to accounts.
  const select = `select entry, tries from plans.audit_outbox where brand_id = $1 and entry->>'action' not like 'notice.%' order by seq`;
  const rows = await served.db.query<{ entry: object; tries: number }>(select, [brandId]);
  return rows.map(({ entry, tries }) => ({ ...entry, tries }));
};
const pendingPlan = async (): Promise<Plan> => (await served.pendingPlan()).plan;
const inWorkspace = ({ brand_id, id }: Plan) => served.getInWorkspace(brand_id, id);

it("covers every method that writes an entry", () => {
  const writing = Object.entries(METHODS).filter(([path, { entry }]) => path.startsWith("/plans.") && entry !== undefined);
  expect(writing.map(([path]) => path.split("/")[2] ?? "").toSorted()).toEqual(Object.keys(CHANGING).toSorted());
});

describe.each(Object.entries(CHANGING))("%s", (_, { action, fields, call }) => {
  it("writes one entry, of whom the grant proves; a repetition changes nothing and writes none", async () => {
    const plan = await pendingPlan();
    for (let n = 0; n < 3; n += 1) await call(plan, callOf(MEMBER));
    const entry = { action, fields, actor: MEMBER, via: null, role: null, ...STATED_CLIENT, request_id: "test", outcome: "done" };
    expect(await entriesOf(plan.brand_id)).toEqual([{ ...entry, subject_id: plan.id, error_kind: null, tries: 1 }]);
  });

  it("names the owner whose link opened the session; without a grant it is the operator's", async () => {
    const [linked, operators] = [await pendingPlan(), await pendingPlan()];
    await call(linked, { ...callContext(), grants: { plans: `${MEMBER} member ${OTHER_MEMBER}` } });
    expect(await entriesOf(linked.brand_id)).toMatchObject([{ actor: MEMBER, via: OTHER_MEMBER }]);
    await call(operators);
    expect(await entriesOf(operators.brand_id)).toMatchObject([{ action, actor: null, via: null, address: null, browser: null }]);
  });

  it("counts a refusal, and changes nothing", async () => {
    const plan = await pendingPlan();
    await served.update(plan.brand_id, plan.id, 1, { goal: "Another" });
    const before = await inWorkspace(plan);
    for (let n = 0; n < 2; n += 1) await expect(call(plan, callOf(MEMBER))).rejects.toMatchObject({ kind: "plan_changed" });
    expect(await inWorkspace(plan)).toEqual(before);
    const refused = { action, actor: MEMBER, subject_id: plan.id, outcome: "failed", error_kind: "plan_changed", tries: 2 };
    expect((await entriesOf(plan.brand_id)).slice(1)).toMatchObject([refused]);
  });

  it.each([
    ["whose entry cannot be written", "audit_outbox", "before insert", ""],
    ["that is not committed", "plans", "after update", "deferrable initially deferred"],
  ])("a change %s is none, without an entry", async (_reason, table, when, deferred) => {
    const plan = await pendingPlan();
    const before = await inWorkspace(plan);
    await served.db.query("create or replace function plans.fail() returns trigger language plpgsql as $$ begin raise 'no'; end $$");
    const kind = deferred === "" ? "trigger" : "constraint trigger";
    await served.db.query(`create ${kind} fails ${when} on plans.${table} ${deferred} for each row execute function plans.fail()`);
    try {
      await expect(call(plan, callOf(MEMBER))).rejects.toMatchObject({ kind: "internal_error" });
    } finally {
      await served.db.query(`drop trigger fails on plans.${table}`);
    }
    expect(await inWorkspace(plan)).toEqual(before);
    expect(await entriesOf(plan.brand_id)).toEqual([]);
  });
});

it("reading and preparing write no entry", async () => {
  const plan = await pendingPlan();
  await served.plans.getWorkspacePlan({ brand_id: plan.brand_id, plan_id: plan.id, acting_member: "" }, callOf(MEMBER));
  await served.plans.listPlanSummaries({ brand_id: plan.brand_id, acting_member: "", page_size: 0 }, callOf(MEMBER));
  expect(await entriesOf(plan.brand_id)).toEqual([]);
});

it("an erasure and a deletion cover the entries", async () => {
  const [ours, others] = [await pendingPlan(), await pendingPlan()];
  const pseudonym = `erased_${"8".repeat(26)}`;
  await served.plans.cancelPlan(requestOf(ours), callOf("leaves@example.ph"));
  await served.plans.cancelPlan(requestOf(others), callOf(MEMBER));
  expect(await served.operator.erasePerson({ email: "Leaves@example.ph", pseudonym })).toEqual({ brand_ids: [ours.brand_id] });
  expect(await entriesOf(ours.brand_id)).toMatchObject([{ actor: pseudonym, address: null, browser: null }]);
  const { deleted } = await served.operator.deleteBrandData({ brand_id: ours.brand_id });
  expect(deleted).toEqual([
    { kind: "plans", rows: 1 },
    // With the notice that the plan was prepared.
    { kind: "audit entries", rows: 2 },
  ]);
  expect(await entriesOf(ours.brand_id)).toEqual([]);
  expect((await entriesOf(others.brand_id)).length).toBe(1);
});
