import { KeyedMutex } from "@brand-records/lifecycle";
import { eventually } from "@brand-records/testkit";
import { expectRefusal, newBrand, planInput, servedPlans, type ServedPlans, settled, shortPlanInput } from "../../test/serve-plans.ts";

/** Counts calls of `run`, so that a test knows how many requests wait. */
class CountingMutex extends KeyedMutex {
  calls = 0;

  override run<T>(key: string, work: () => Promise<T>): Promise<T> {
    this.calls += 1;
    return super.run(key, work);
  }
}

const brandMutex = new CountingMutex();
const served = servedPlans({ brandMutex });
let replicas: [ServedPlans, ServedPlans];
beforeAll(async () => {
  replicas = [served, await served.another()];
});

const replica = (index: number): ServedPlans => replicas[index % 2 === 0 ? 0 : 1];
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));
/** Inserts plans by SQL, as a brand's earlier plans. */
async function prefill(brand: string, count: number, status = "pending"): Promise<void> {
  const closed = status === "pending" ? "null, null" : "now(), 'ana@example.ph'";
  await served.db.query("insert into plans.brand_locks (brand_id) values ($1) on conflict do nothing", [brand]);
  await served.db.query(
    `insert into plans.plans (brand_id, id, request_id, input, status, title, goal, campaign_type, planned_for, review_on,
       planning_budget_centavos, closed_at, closed_by)
     select $1, 'pln_' || $3 || i, gen_random_uuid(), '{}', $3, 'x', 'x', 'ugc', '2026-12-01', '2026-12-01', 1, ${closed}
       from generate_series(1, $2) i`,
    [brand, count, status],
  );
}

async function stored(brand: string, status = "pending"): Promise<number> {
  const [row] = await served.db.query<{ count: number }>("select count(*) from plans.plans where brand_id = $1 and status = $2", [
    brand,
    status,
  ]);
  return row?.count ?? Number.NaN;
}

describe("concurrent requests with one request_id to two processes", () => {
  it("make one plan from different inputs: that of one input, and a conflict for the others", async () => {
    const [brand, input] = [newBrand(), planInput()];
    const titles = ["One", "Two", "Three", "Four"];
    const calls = times(80, (i) => replica(i >> 2).prepare(brand, { ...input, title: titles[i % 4] ?? "" }));
    const { done: made, refused } = await settled(calls);
    expect(made).toHaveLength(20);
    expect(made.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await served.all(brand)).toEqual([made[0]?.plan]);
    for (const error of refused) expect(error).toMatchObject({ kind: "request_conflict", details: [{ field: "title" }] });
  });
});

describe("the limit of 200 pending plans", () => {
  it("lets 100 concurrent requests share the last plan", async () => {
    const [brand, input] = [newBrand(), planInput()];
    await prefill(brand, 199);
    const responses = await Promise.all(times(100, (i) => replica(i).prepare(brand, input)));
    expect(responses.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(responses.map(({ plan }) => plan.id)).size).toBe(1);
    expect(await stored(brand)).toBe(200);
  });

  it.each(["cancelled", "completed"])("allows exactly one more after one is %s", async (state) => {
    const brand = newBrand();
    await prefill(brand, 199);
    const { plan } = await served.prepare(brand, planInput());
    await expectRefusal(served.prepare(brand, planInput()), "pending_plan_limit");
    await (state === "cancelled" ? served.cancel(brand, plan.id) : served.complete(brand, plan.id));
    const { refused } = await settled(times(20, (i) => replica(i).prepare(brand, planInput())));
    expect(refused.map(({ kind }) => kind)).toEqual(Array(19).fill("pending_plan_limit"));
    expect(await stored(brand)).toBe(200);
  });

  it("is never exceeded while plans are cancelled and made concurrently", async () => {
    const brand = newBrand();
    await prefill(brand, 180);
    const own = await Promise.all(times(20, (i) => replica(i).prepare(brand, planInput())));
    const cancelling = own.map(({ plan }, i) => replica(i).cancel(brand, plan.id));
    const preparing = times(100, (i) => replica(i).prepare(brand, planInput()));
    await Promise.all(cancelling);
    const { done, refused } = await settled(preparing);
    for (const error of refused) expect(error).toMatchObject({ kind: "pending_plan_limit" });
    expect(done.length).toBeLessThanOrEqual(20);
    expect(await stored(brand)).toBe(180 + done.length);
  });

  it("refuses a repeated request whose plan was not made until there is room", async () => {
    const [brand, input] = [newBrand(), planInput()];
    await prefill(brand, 199);
    const { plan } = await served.prepare(brand, planInput());
    for (const by of replicas) await expectRefusal(by.prepare(brand, input), "pending_plan_limit");
    await served.cancel(brand, plan.id);
    expect(await served.prepare(brand, input)).toMatchObject({ replayed: false });
  });
});

describe("a brand with waiting requests", () => {
  /** Locks the brand's row, as a slow process would, while `work` runs. */
  const whileLocked = (brand: string, work: () => Promise<void>): Promise<void> =>
    served.db.transaction(async (sql) => {
      await sql.query("select from plans.brand_locks where brand_id = $1 for update", [brand]);
      await work();
    });
  const countWaitingBackends = async (): Promise<number> => {
    const waiting = await served.db.query(
      "select from pg_stat_activity where datname = current_database() and application_name = 'plans' and wait_event_type = 'Lock'",
    );
    return waiting.length;
  };

  it("takes one connection for 100 requests, and delays no other brand", async () => {
    const [locked, other] = [newBrand(), newBrand()];
    await served.prepare(locked, planInput());
    const [before, ended] = [brandMutex.calls, [] as unknown[]];
    let waiting: Promise<{ replayed: boolean }>[] = [];
    await whileLocked(locked, async () => {
      waiting = times(100, () => served.prepare(locked, shortPlanInput()));
      for (const each of waiting) void each.catch((error: unknown) => error).then((outcome) => ended.push(outcome));
      await eventually(() => expect(brandMutex.calls).toBe(before + 100));
      await eventually(async () => expect(await countWaitingBackends()).toBe(1));

      const input = planInput();
      const { plan } = await served.prepare(other, input);
      expect(await served.prepare(other, input)).toEqual({ plan, replayed: true });
      expect(await served.get(other, plan.id)).toEqual(plan);
      expect(await Promise.all(times(30, () => served.prepare(other, shortPlanInput())))).toHaveLength(30);
      expect(await countWaitingBackends()).toBe(1);
      expect(ended).toEqual([]);
    });
    for (const { replayed } of await Promise.all(waiting)) expect(replayed).toBe(false);
    expect(await stored(locked)).toBe(101);
    await eventually(() => expect(brandMutex.size).toBe(0));
  });

  it("can repeat a request, read and close plans without waiting", async () => {
    const [brand, input] = [newBrand(), planInput()];
    const { plan } = await served.prepare(brand, input);
    let behind: Promise<unknown> = Promise.resolve();
    await whileLocked(brand, async () => {
      behind = served.prepare(brand, planInput());
      await eventually(async () => expect(await countWaitingBackends()).toBe(1));
      for (const by of replicas) expect(await by.prepare(brand, input)).toEqual({ plan, replayed: true });
      expect(await served.all(brand)).toEqual([plan]);
      expect(await served.complete(brand, plan.id)).toMatchObject({ status: "completed" });
      expect(await served.prepare(brand, input)).toMatchObject({ plan: { status: "completed" }, replayed: true });
    });
    await expect(behind).resolves.toMatchObject({ replayed: false });
  });

  it("continues with the next request when one fails", async () => {
    const brand = newBrand();
    await served.prepare(brand, planInput());
    let waiting: Promise<unknown>[] = [];
    await whileLocked(brand, async () => {
      const before = brandMutex.calls;
      waiting = times(3, () => served.prepare(brand, planInput()));
      await eventually(() => expect(brandMutex.calls).toBe(before + 3));
      await eventually(async () => expect(await countWaitingBackends()).toBe(1));
      await served.db.query(
        "select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'plans' and wait_event_type = 'Lock'",
      );
      await expectRefusal(Promise.race(waiting), "timeout");
    });
    const { done, refused } = await settled(waiting);
    expect([done.length, refused]).toMatchObject([2, [{ kind: "timeout" }]]);
  });
});
