import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { openPool, type Database } from "@brand-records/postgres";
import { startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";
import { buildGoClient, buildPythonClient, buildTypescriptClient } from "./build-clients.ts";
import { runTool, type Program } from "./run-tool.ts";

/** One promise: clients generated from the OpenAPI description handle amounts of every size and values of later versions. */

/** The first run downloads and compiles the generators. */
const BUILD_MS_MAX = 10 * 60_000;
const RUN_MS_MAX = 2 * 60_000;

/** Records in list order. The second amount exceeds 32 bits, the third is the largest possible; the last record has values of a later version. */
const PAYOUTS = [
  { id: "po_5", amount: "1", status: "paid", failure_code: null },
  { id: "po_4", amount: "2147483648", status: "processing", failure_code: null },
  { id: "po_3", amount: "9007199254740991", status: "pending", failure_code: null },
  { id: "po_2", amount: "250000", status: "failed", failure_code: "account_invalid" },
  { id: "po_1", amount: "0", status: "frozen_by_bank", failure_code: "bank_holiday" },
];

const EXPECTED = {
  pages: 3,
  payouts: PAYOUTS,
  refused: [
    { status: 400, code: "invalid_cursor" },
    { status: 401, code: "invalid_key" },
  ],
  budgets: [
    { status: 201, planning_budget: "1234567.89" },
    { status: 200, planning_budget: "1234567.89" },
  ],
  ponged: 7,
};

let stack: SharedStack;
let brand: TestBrand;
let planner: TestBrand;
let folder: string;
let description: string;

beforeAll(async () => {
  stack = await startOnSharedServices();
  brand = await stack.createBrand();
  planner = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  await insertPayouts();
  folder = await mkdtemp(join(tmpdir(), "clients-"));
  description = join(folder, "service.yaml");
  await writeFile(description, await (await fetch(`${stack.url}/openapi/service.yaml`)).text());
});
afterAll(async () => {
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
});

describe.each([
  ["TypeScript", buildTypescriptClient],
  ["Python", buildPythonClient],
  ["Go", buildGoClient],
])("a client generated in %s", (language, build) => {
  let program: Program;
  let cwd: string;

  beforeAll(async () => {
    cwd = await mkdtemp(join(folder, `${language}-`));
    program = await build(cwd, description);
  }, BUILD_MS_MAX);

  it(
    "reads every page with exact amounts and unknown values, gets typed errors, and prepares a plan to the centavo",
    async () => {
      const env = { BASE_URL: stack.url, READING_KEY: brand.key, PLANNING_KEY: planner.key, REQUEST_ID: randomUUID() };
      expect(JSON.parse(await runTool(program.tool, program.args, { cwd, env }))).toEqual(EXPECTED);
    },
    RUN_MS_MAX,
  );
});

/** Inserts PAYOUTS with descending times, so that the list has their order. */
async function insertPayouts(): Promise<void> {
  const db = openPool({ url: stack.databaseUrl, max: 1, applicationName: "test" });
  await allowValuesOfLaterVersions(db);
  for (const [index, { id, amount, status, failure_code }] of PAYOUTS.entries()) {
    await db.query(
      `insert into records.payouts (brand_id, id, created_at, updated_at, campaign_id, creator_id, status, amount_centavos, fee_centavos,
         currency, submission_count, conversion_count, failure_code)
       values ($1, $2, $3, $3, 'cmp_1', 'crt_1', $4, $5, 0, 'PHP', 1, 0, $6)`,
      [brand.id, id, new Date(Date.UTC(2026, 10, 21) - index * 1_000), status, amount, failure_code],
    );
  }
  await db.stop();
}

async function allowValuesOfLaterVersions(db: Database): Promise<void> {
  const constraints = await db.query<{ name: string }>(
    `select conname as name from pg_constraint
     where conrelid = 'records.payouts'::regclass and contype = 'c' and pg_get_constraintdef(oid) ~ 'status|failure_code'`,
  );
  for (const { name } of constraints) await db.query(`alter table records.payouts drop constraint ${name}`);
}
