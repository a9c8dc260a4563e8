import type { Plan } from "@brand-records/proto/plans/v1";
import { MEMBER, OTHER_MEMBER, servedPlans, settled, type ServedPlans } from "../../test/serve-plans.ts";

const served = servedPlans();
/** Two processes of the service on one database. */
let processes: [ServedPlans, ServedPlans];
beforeAll(async () => {
  processes = [served, await served.another()];
});

it("of 20 simultaneous changes of a revision, in two processes, exactly one is saved, and the others are refused", async () => {
  const { brand, plan } = await served.pendingPlan();
  for (let revision = 1; revision <= 2; revision += 1) {
    const changes = Array.from({ length: 20 }, (_, i) => ({ title: `Title ${revision}.${i}`, goal: `Goal ${revision}.${i}` }));
    const saves = changes.map((change, i) => processes[i % 2 === 0 ? 0 : 1].update(brand, plan.id, revision, change));
    const { done, refused } = await settled(saves);
    expect(refused.map(({ kind }) => kind)).toEqual(Array(19).fill("plan_changed"));
    const current = await served.getInWorkspace(brand, plan.id);
    expect(done).toEqual([current]);
    expect(current.revision).toBe(revision + 1);
    // The plan has one of the changes, not a mixture.
    expect(changes).toContainEqual({ title: current.plan?.title, goal: current.plan?.goal });
  }
});

it("the same change, saved 20 times at once after a lost response, is saved once, and every save succeeds", async () => {
  const { brand, plan } = await served.pendingPlan();
  const saves = Array.from({ length: 20 }, (_, i) => processes[i % 2 === 0 ? 0 : 1].update(brand, plan.id, 1, { goal: "Sell out" }));
  const responses = await Promise.all(saves);
  expect(responses.map(({ revision }) => revision)).toEqual(responses.map(() => 2));
  expect((await served.getInWorkspace(brand, plan.id)).revision).toBe(2);
});

const CHANGES = ["updated", "completed", "cancelled"] as const;

it("of a simultaneous change, completion and cancellation of one revision, exactly one takes place", async () => {
  for (let round = 0; round < 6; round += 1) {
    const { brand, plan } = await served.pendingPlan();
    const calls = {
      updated: () => processes[0].update(brand, plan.id, 1, { title: "Edited" }),
      completed: () => processes[1].complete(brand, plan.id),
      cancelled: () => processes[0].cancel(brand, plan.id, OTHER_MEMBER),
    };
    // Each begins a third of the rounds.
    const order = [...CHANGES.slice(round % 3), ...CHANGES.slice(0, round % 3)];
    const { done, refused } = await settled(order.map(async (name) => calls[name]().then(() => name)));
    expect(done).toHaveLength(1);
    const { plan: current, revision } = await served.getInWorkspace(brand, plan.id);
    const expected: Record<string, Partial<Plan>> = {
      updated: { title: "Edited", status: "pending", closed_by: null },
      completed: { title: plan.title, status: "completed", closed_by: MEMBER },
      cancelled: { title: plan.title, status: "cancelled", closed_by: OTHER_MEMBER },
    };
    expect(current).toMatchObject(expected[done[0] ?? ""] ?? { status: "one of the three" });
    expect(revision).toBe(2);
    expect(refused.map(({ kind }) => kind)).toEqual(Array(2).fill(done[0] === "updated" ? "plan_changed" : "plan_not_pending"));
  }
});

describe("whatever writes the table", () => {
  const write = (id: string, change: string, values: unknown[] = []) =>
    served.db.query<{ revision: number }>(`update plans.plans set ${change} where id = $1 returning revision`, [id, ...values]);

  it("a change raises the revision by one, and nothing sets it", async () => {
    const { plan } = await served.pendingPlan();
    expect(await write(plan.id, "title = 'Edited', notes = null, revision = 40")).toEqual([{ revision: 2 }]);
    expect(await write(plan.id, "revision = 1")).toEqual([{ revision: 2 }]);
    expect(await write(plan.id, "title = title, updated_at = now(), edited_by = 'erased_1'")).toEqual([{ revision: 2 }]);
    expect(await write(plan.id, "requirements = '{one}'")).toEqual([{ revision: 3 }]);
  });

  it("the request that retries are compared with never changes", async () => {
    const { brand, input, plan } = await served.pendingPlan();
    for (const change of ['input = input || \'{"title": "Edited"}\'', "input = input - 'notes'", "request_id = gen_random_uuid()"])
      await expect(write(plan.id, change)).rejects.toThrow(`the request of plan ${plan.id} never changes`);
    await write(plan.id, "input = input, title = 'Edited'");
    expect(await served.prepare(brand, input)).toMatchObject({ replayed: true, plan: { title: "Edited" } });
  });

  it("a closed plan takes no edit, but the addresses of people may be replaced by a pseudonym, and the plan deleted", async () => {
    const { brand, plan } = await served.pendingPlan();
    await served.update(brand, plan.id, 1, { title: "Edited" }, OTHER_MEMBER);
    await served.complete(brand, plan.id, MEMBER, 2);
    for (const change of [
      "title = 'Late'",
      "notes = null",
      "requirements = '{}'",
      "prepared_by = 'Other'",
      "edited_at = now()",
      "closed_by = null",
      "closed_by = 'eva@example.ph'",
      "edited_by = 'eva@example.ph'",
      "edited_by = null",
      "closed_by = 'erased_1', title = 'Late'",
    ]) {
      await expect(write(plan.id, change)).rejects.toThrow(/is completed permanently|violates check constraint/);
    }
    const before = await served.getInWorkspace(brand, plan.id);
    expect(await write(plan.id, "closed_by = 'erased_1', edited_by = 'erased_2'")).toEqual([{ revision: 3 }]);
    expect(await served.getInWorkspace(brand, plan.id)).toEqual({
      ...before,
      plan: { ...before.plan, closed_by: "erased_1" },
      edited_by: "erased_2",
    });
    await served.db.query("delete from plans.plans where id = $1", [plan.id]);
    expect(await served.all(brand)).toEqual([]);
  });
});
