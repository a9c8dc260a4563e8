import type { Plan } from "@brand-records/proto/plans/v1";
import { addPlan, startProduct, type TestBrand } from "../../test/product.ts";
import type { Outcome } from "../../test/test-terminal.ts";

const product = startProduct();
let brand: TestBrand;
beforeEach(async () => {
  brand = await product.createBrand();
});
const run = (line: string): Promise<Outcome> => product.run(`plans ${line}`, { env: { ...product.env, BRAND: brand.id } });
const add = (columns: Record<string, string | null> = {}): Promise<string> => addPlan(product.db, brand.id, columns);
const CLOSED = { closed_at: "2026-11-22T09:00:00Z", closed_by: "ana@ulap.example" };
const idsOf = async (line: string): Promise<string[]> => (await run(`${line} --json`)).json<{ plans: Plan[] }>().plans.map(({ id }) => id);

describe("list", () => {
  it("shows the brand's plans in columns, newest first, with budgets in pesos and control characters replaced", async () => {
    const first = await add();
    const cancelled = { status: "cancelled", campaign_type: "affiliate", planning_budget_centavos: "5", title: "名\u001b[2J\n前" };
    const second = await add({ ...CLOSED, ...cancelled, created_at: "2026-11-21T08:31:00Z" });
    const { code, stdout, stderr } = await run("list");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n")).toEqual([
      "ID                              STATUS     TYPE               BUDGET  PLANNED FOR  REVIEW ON   CREATED (UTC)     TITLE",
      `${second}  cancelled  affiliate        PHP 0.05  2026-12-01   2026-12-15  2026-11-21 08:31  名\ufffd[2J\ufffd前`,
      `${first}  pending    ugc        PHP 150,000.50  2026-12-01   2026-12-15  2026-11-21 08:30  Pasko 2026`,
      "",
    ]);
    expect(await idsOf("list --status cancelled")).toEqual([second]);
  });

  it.each([
    ["list", { code: 0, stdout: "The brand has no plans.\n" }],
    ["list --status completed", { code: 0, stdout: "The brand has no completed plans.\n" }],
    ["list --brand brd_zzz", { code: 1, stdout: "", stderr: expect.stringContaining("There is no brand with this id") }],
    ["list --status open", { code: 2, stdout: "", stderr: expect.stringContaining("Allowed choices are pending, completed, cancelled") }],
  ])("of nothing, or of what is not there: %s", async (line, outcome) => {
    expect(await run(line)).toMatchObject(outcome);
  });

  it("reads all pages up to the limit, none larger than a message holds, and notes that there may be more", async () => {
    const all: string[] = [];
    for (let at = 0; at < 90; at += 1) all.unshift(await add({ created_at: new Date(Date.UTC(2026, 10, 21) + at).toISOString() }));
    const pages: number[] = [];
    product.intercepts.set("plans.listPlans", (request: { page_size: number }, forward) => {
      pages.push(request.page_size);
      return forward();
    });
    expect(await idsOf("list --limit 85")).toEqual(all.slice(0, 85));
    expect(pages).toEqual([40, 40, 5]);
    expect(await idsOf("list")).toEqual(all.slice(0, 50));
    expect(await idsOf("list --limit 1000")).toEqual(all);
    expect((await run("list")).stderr).toContain("Limited to 50; there may be older ones: see --limit");
    expect((await run("list --json")).stderr).toBe("");
    expect((await run("list --limit 1000")).stderr).toBe("");
  });
});

describe("show", () => {
  it("shows every field, with the lines of texts indented and control characters replaced", async () => {
    const id = await add({
      request_id: "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11",
      status: "completed",
      ...CLOSED,
      goal: "Reach people\nwho cook",
      summary: "One\r\n\r\n\tTwo\u001b[2J",
      brief: "Say it",
      requirements: '{"Show the product","Name the price\nin pesos"}',
      platforms: "{tiktok,youtube}",
      updated_at: "2026-11-22T09:00:00Z",
    });
    const { code, stdout } = await run(`show ${id}`);
    expect(code).toBe(0);
    expect(stdout.split("\n")).toEqual([
      `ID             ${id}`,
      "Title          Pasko 2026",
      "Status         completed",
      `Brand          ${brand.id}`,
      "Request        0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11",
      "Type           ugc",
      "Planned for    2026-12-01",
      "Review on      2026-12-15",
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
    expect((await run(`show ${id} --json`)).json()).toMatchObject({
      plan: { id, summary: "One\r\n\r\n\tTwo\u001b[2J", closed_by: CLOSED.closed_by },
    });
  });

  it("shows a dash for what a plan does not have", async () => {
    const { stdout } = await run(`show ${await add()}`);
    for (const label of ["Platforms", "Closed \\(UTC\\)", "Closed by"]) expect(stdout).toMatch(new RegExp(`^${label} +-$`, "m"));
    for (const label of ["Summary", "Brief", "Requirements"]) expect(stdout).toContain(`\n${label}\n  -\n`);
  });
});
