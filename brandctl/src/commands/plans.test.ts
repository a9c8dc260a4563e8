import type { Plan } from "@brand-records/proto/plans/v1";
import { FakeAccounts } from "../../test/fake-accounts.ts";
import { FakePlans, planOf } from "../../test/fake-plans.ts";
import { serve, type Served } from "../../test/serve.ts";
import { brandctl, type Outcome, type Surroundings } from "../../test/test-terminal.ts";

describe("brandctl plans", () => {
  let fake: FakePlans;
  let served: Served;
  const run = (line: string, surroundings: Surroundings = {}): Promise<Outcome> =>
    brandctl(line.split(" "), { env: { PLANS_ADDRESS: served.address }, ...surroundings });

  beforeAll(async () => {
    fake = new FakePlans();
    served = await serve(...fake.served);
  });
  afterAll(() => served.stop());
  beforeEach(() => {
    fake.plans.splice(0);
    fake.requests.splice(0);
  });

  describe("list", () => {
    it("shows the brand's plans in columns, with budgets in pesos", async () => {
      fake.plans.push(planOf({ id: "pln_2", status: "cancelled", campaign_type: "affiliate", planning_budget_centavos: 5, title: "名前" }));
      fake.plans.push(planOf(), planOf({ id: "pln_9", brand_id: "brd_other" }));
      const { code, stdout, stderr } = await run("plans list --brand brd_1");
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout.split("\n")).toEqual([
        "ID     STATUS     TYPE               BUDGET  PLANNED FOR  REVIEW ON   CREATED (UTC)     TITLE",
        "pln_2  cancelled  affiliate        PHP 0.05  2026-12-01   2026-11-25  2026-11-21 08:30  名前",
        "pln_1  pending    ugc        PHP 150,000.50  2026-12-01   2026-11-25  2026-11-21 08:30  Pasko 2026",
        "",
      ]);
    });

    it("gives a hint if there are none", async () => {
      expect(await run("plans list --brand brd_1")).toMatchObject({
        code: 0,
        stdout: "The brand has no plans. Is the id right? See brandctl brands list\n",
      });
      expect((await run("plans list --brand brd_1 --status completed")).stdout).toContain("The brand has no completed plans.");
      expect((await run("plans list --brand brd_1 --json")).json()).toEqual({ plans: [] });
    });

    it("fails with not_found for an unknown brand, if accounts is reachable", async () => {
      const accounts = await serve(...new FakeAccounts().served);
      try {
        expect(await run(`plans list --brand brd_zzz --accounts-address ${accounts.address}`)).toMatchObject({
          code: 1,
          stdout: "",
          stderr: expect.stringContaining("There is no brand with this id"),
        });
      } finally {
        await accounts.stop();
      }
    });

    it("shows only the status given with --status", async () => {
      fake.plans.push(...["pending", "completed", "cancelled"].map((status, at) => planOf({ id: `pln_${at}`, status })));
      const { plans } = (await run("plans list --brand brd_1 --status completed --json")).json<{ plans: Plan[] }>();
      expect(plans).toEqual([planOf({ id: "pln_1", status: "completed" })]);
    });

    it("reads all pages up to the limit, none larger than a message holds, and notes that there may be more", async () => {
      fake.plans.push(...Array.from({ length: 100 }, (_, at) => planOf({ id: `pln_${at}` })));
      const ids = async (line: string): Promise<string[]> =>
        (await run(`${line} --json`)).json<{ plans: Plan[] }>().plans.map(({ id }) => id);
      const all = fake.plans.map(({ id }) => id);

      expect(await ids("plans list --brand brd_1 --limit 90")).toEqual(all.slice(0, 90));
      expect(fake.requests.map(({ page_size, after_id }) => [page_size, after_id])).toEqual([
        [40, null],
        [40, "pln_39"],
        [10, "pln_79"],
      ]);
      expect(await ids("plans list --brand brd_1")).toEqual(all.slice(0, 50));
      expect(await ids("plans list --brand brd_1 --limit 1")).toEqual(["pln_0"]);
      expect(await ids("plans list --brand brd_1 --limit 1000")).toEqual(all);

      expect((await run("plans list --brand brd_1")).stderr).toContain("Limited to 50; there may be older ones: see --limit");
      expect((await run("plans list --brand brd_1 --json")).stderr).toBe("");
      expect((await run("plans list --brand brd_1 --limit 1000")).stderr).toBe("");
    });

    it.each([
      ["--limit 0", "It must be a whole number from 1 to 999999"],
      ["--limit many", "It must be a whole number from 1 to 999999"],
      ["--status open", "Allowed choices are pending, completed, cancelled"],
    ])("refuses %s", async (options, message) => {
      expect(await run(`plans list --brand brd_1 ${options}`)).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringContaining(message),
      });
      expect(fake.requests).toEqual([]);
    });

    it("replaces control characters in titles", async () => {
      fake.plans.push(planOf({ title: "x\u001b[2J\ny" }));
      expect((await run("plans list --brand brd_1")).stdout).toContain("x\ufffd[2J\ufffdy\n");
    });
  });

  describe("show", () => {
    const full = planOf({
      status: "completed",
      goal: "Reach people\nwho cook",
      summary: "One\r\n\r\n\tTwo\u001b[2J",
      brief: "Say it",
      requirements: ["Show the product", "Name the price\nin pesos"],
      platforms: ["tiktok", "youtube"],
      updated_at: "2026-11-22T09:00:00.000Z",
      closed_at: "2026-11-22T09:00:00.000Z",
      closed_by: "ana@ulap.example",
    });

    it("shows every field, with the lines of texts indented and control characters replaced", async () => {
      fake.plans.push(full);
      const { code, stdout } = await run("plans show pln_1");
      expect(code).toBe(0);
      expect(stdout.split("\n")).toEqual([
        "ID             pln_1",
        "Title          Pasko 2026",
        "Status         completed",
        "Brand          brd_1",
        "Request        0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11",
        "Type           ugc",
        "Planned for    2026-12-01",
        "Review on      2026-11-25",
        "Budget         PHP 150,000.50",
        "Platforms      tiktok, youtube",
        "Created (UTC)  2026-11-21 08:30",
        "Updated (UTC)  2026-11-22 09:00",
        "Closed (UTC)   2026-11-22 09:00",
        "Closed by      ana@ulap.example",
        "",
        "Goal",
        "  Reach people",
        "  who cook",
        "",
        "Summary",
        "  One",
        "",
        "      Two\ufffd[2J",
        "",
        "Brief",
        "  Say it",
        "",
        "Requirements",
        "  - Show the product",
        "  - Name the price",
        "    in pesos",
        "",
      ]);
    });

    it("shows a dash for what a plan does not have", async () => {
      fake.plans.push(planOf());
      const { stdout } = await run("plans show pln_1");
      for (const label of ["Platforms", "Closed \\(UTC\\)", "Closed by"]) expect(stdout).toMatch(new RegExp(`^${label} +-$`, "m"));
      for (const label of ["Summary", "Brief", "Requirements"]) expect(stdout).toContain(`\n${label}\n  -\n`);
    });

    it("prints the message unchanged with --json", async () => {
      fake.plans.push(full);
      expect((await run("plans show pln_1 --json")).json()).toEqual({ plan: full });
    });

    it("says where to look when the brand does not have the plan", async () => {
      fake.plans.push(planOf({ brand_id: "brd_other" }));
      const hint = "brandctl plans list --brand BRAND shows a brand's plans; with --brand, only that brand's are found";
      expect(await run("plans show pln_1 --brand brd_1")).toMatchObject({
        code: 1,
        stdout: "",
        stderr: `error: The brand brd_1 has no plan with this id\n${hint}\n`,
      });
      const { code, stderr } = await run("plans show pln_1 --brand brd_1 --json");
      expect(code).toBe(1);
      expect(JSON.parse(stderr)).toEqual({
        error: { code: "not_found", message: "The brand brd_1 has no plan with this id", field: "plan_id", hint },
      });
    });
  });

  it.each(["list --brand brd_1", "show pln_1"])("%s names the address that cannot be reached and its source, with a hint", async (line) => {
    const closed = await serve();
    await closed.stop();
    const { code, stdout, stderr } = await run(`plans ${line} --plans-address ${closed.address}`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`plans cannot be reached at ${closed.address} (--plans-address): nothing listens there.`);
    expect(stderr).toContain("Is plans running? See brandctl doctor.");
  });
});
