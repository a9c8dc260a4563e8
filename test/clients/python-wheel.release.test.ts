import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { openPool, type Database } from "@brand-records/postgres";
import { freePort } from "@brand-records/postgres/embedded";
import { RESOURCE_NAMES, RESOURCES, type ResourceName } from "@brand-records/resources";
import { eventually } from "@brand-records/testkit";
import { brandRecords } from "../command-line.ts";
import { seedBrand } from "../seed-brand.ts";
import { callContext, startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";
import { installedOnce, PYTHON, pythonPrograms } from "./installed-runtime.ts";
import { buildPythonClient, examplesOf } from "./python-client.ts";
import { runTool } from "./run-tool.ts";

/**
 * One promise: the path of an engineer who has the wheel alone. It is installed in an empty folder, reads a first page, verifies a delivery of the
 * service in FastAPI, and copies 50,000 conversions; the other programs of examples/python run with the real libraries.
 */

const EXAMPLES = join(process.cwd(), "examples/python");
const SIZES = { campaigns: 8, submissions: 500, payouts: 250, deposits: 20, conversions: 50_000, links: 205 };
/** The first run installs the libraries. */
const RUN_MS_MAX = 15 * 60_000;

let stack: SharedStack;
let db: Database;
let brand: TestBrand;
let folder: string;
let wheel: string;

beforeAll(async () => {
  stack = await startOnSharedServices({ RATE_LIMIT_PLUS: "100000", RECEIVERS_ON_LOOPBACK: "true" });
  db = openPool({ url: stack.databaseUrl, applicationName: "platform" });
  brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  await seedBrand(stack, brand.id, SIZES);
  folder = await mkdtemp(join(tmpdir(), "python-wheel-"));
  const built = await buildPythonClient(join(folder, "built"));
  wheel = join(folder, "built", [...built.keys()].find((file) => file.endsWith(".whl")) ?? "");
  await cp(EXAMPLES, folder, { recursive: true });
  await writeFile(join(folder, "key"), `${brand.key}\n`);
}, RUN_MS_MAX);
afterAll(async () => {
  await db.stop();
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Installs the wheel beside the libraries of an example. Returns the folder of programs. */
async function programsWith(requirements: string): Promise<string> {
  const [client, ...libraries] = (await readFile(join(EXAMPLES, requirements), "utf8")).trim().split("\n");
  const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
  // The wheel stands for it.
  expect(client).toBe(`brand-records~=${version.replace(/\.\d+$/, "")}`);
  const programs = await pythonPrograms([...libraries, "httpx", "mypy==2.4.1"]);
  const pip = { ...PYTHON, command: join(programs, "pip") };
  await runTool(pip, ["install", "--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps", wheel], { cwd: folder });
  return programs;
}

const settings = (): Readonly<Record<string, string>> => ({
  BRAND_RECORDS_URL: stack.url,
  BRAND_RECORDS_KEY: brand.key,
  BRAND_RECORDS_KEY_FILE: "key",
  PYTHONDONTWRITEBYTECODE: "1",
});

const run = (command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> =>
  runTool({ ...PYTHON, command }, args, { cwd: folder, env: { ...settings(), ...env } });

const stored = (resource: ResourceName): Promise<{ id: string }[]> =>
  db.query(`select ${Object.keys(RESOURCES[resource].schema.shape).join(", ")} from records.${resource} where brand_id = $1`, [brand.id]);

/** Compares without a diff of 50,000 records. */
async function expectEqualCopy(file: string): Promise<void> {
  const copy = new DatabaseSync(join(folder, file), { readOnly: true });
  for (const resource of RESOURCE_NAMES) {
    const rows = copy.prepare("select id, record from records where resource = ?").all(resource);
    const copied = new Map(rows.map(({ id, record }) => [id, JSON.parse(String(record)) as unknown]));
    const expected = await stored(resource);
    expect([rows.length, copied.size]).toEqual([expected.length, expected.length]);
    expect(expected.filter((record) => !isDeepStrictEqual(copied.get(record.id), record))).toEqual([]);
  }
  copy.close();
}

it(
  "installs with httpx alone, reads a first page, and copies 50,000 conversions, twice, to equal the database",
  async () => {
    const environment = await installedOnce("python-wheel-alone", (target) => runTool(PYTHON, ["-m", "venv", target], { cwd: target }));
    const programs = join(environment, "bin");
    await run(join(programs, "pip"), ["install", "--quiet", "--disable-pip-version-check", "--force-reinstall", wheel]);
    const installed = await run(join(programs, "pip"), ["list", "--format", "freeze", "--disable-pip-version-check"]);
    const names = installed.split("\n").map((line) => line.split("==")[0] ?? "");
    const libraries = ["anyio", "certifi", "h11", "httpcore", "httpx", "idna", "typing_extensions"];
    expect(new Set(names)).toEqual(new Set(["", "pip", "setuptools", "brand-records", ...libraries]));

    const [example = ""] = await examplesOf("docs/api.md", "python");
    await writeFile(join(folder, "first.py"), example);
    expect((await run(join(programs, "python"), ["first.py"])).trim().split("\n")).toHaveLength(SIZES.conversions);

    await run(join(programs, "python"), ["nightly_copy.py"]);
    await expectEqualCopy("copy.db");
    await db.query(
      `update records.conversions set status = case when hashtext(id) % 2 = 0 then 'approved' else 'reversed' end,
         reversal_code = case when hashtext(id) % 2 = 0 then null else 'returned' end
       where brand_id = $1 and status = 'pending'`,
      [brand.id],
    );
    await run(join(programs, "python"), ["nightly_copy.py"]);
    await expectEqualCopy("copy.db");
  },
  RUN_MS_MAX,
);

describe("beside FastAPI, Flask, Django and pandas", () => {
  let programs: string;
  let running: ChildProcess;
  beforeAll(async () => {
    programs = await programsWith("requirements.txt");
  }, RUN_MS_MAX);
  afterEach(() => running.kill("SIGTERM"));

  const RECEIVERS: readonly (readonly [name: string, command: (port: number) => readonly string[]])[] = [
    ["fastapi_receiver.py", (port) => ["uvicorn", "fastapi_receiver:app", "--port", String(port)]],
    ["flask_receiver.py", (port) => ["gunicorn", "--bind", `127.0.0.1:${port}`, "flask_receiver:app"]],
    ["django_receiver.py", (port) => ["python", "django_receiver.py", "runserver", String(port), "--noreload"]],
  ];

  it.each(RECEIVERS)(
    "%s verifies a delivery of the service, and stores it once",
    async (name, commandOf) => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}/`;
      const created = await stack.receivers.createReceiver(
        { brand_id: brand.id, url, label: name, events: ["payout.paid"] },
        callContext(),
      );
      const [program = "", ...args] = commandOf(port);
      await rm(join(folder, "events.db"), { force: true });
      // gunicorn makes a socket at home.
      const env = { PATH: process.env["PATH"], HOME: folder, ...settings(), WEBHOOK_SECRET: created.secret };
      running = spawn(join(programs, program), args, { cwd: folder, env, stdio: "ignore" });
      await once(running, "spawn");
      await eventually(() => fetch(url, { method: "POST", body: "{}" }), { timeoutMs: 60_000 });

      expect((await fetch(url, { method: "POST", body: " ".repeat(70_000) })).status).toBeGreaterThanOrEqual(400);
      await writeFile(join(folder, "secret"), created.secret);
      const proved = await brandRecords(["receivers", "prove", "--to", url, "--secret-file", join(folder, "secret"), "--json"]);
      expect({ code: proved.code, report: JSON.parse(proved.stdout) as unknown }).toMatchObject({ code: 0, report: { passed: true } });

      await rm(join(folder, "events.db"));
      const key = { brand_id: brand.id, receiver_id: created.receiver?.id ?? "" };
      await stack.receivers.sendTest({ ...key, type: null, next: false }, callContext());
      await eventually(
        () => {
          const events = new DatabaseSync(join(folder, "events.db"), { readOnly: true });
          const rows = events.prepare("select event from events").all();
          events.close();
          expect(rows.map(({ event }) => JSON.parse(String(event)) as unknown)).toEqual([
            expect.objectContaining({ type: "payout.paid", brand_id: brand.id, test: true }),
          ]);
        },
        { timeoutMs: 60_000 },
      );
    },
    RUN_MS_MAX,
  );

  it(
    "pandas_report.py adds up what the database has",
    async () => {
      const report = await run(join(programs, "python"), ["-W", "error", "pandas_report.py"]);
      const [expected] = await db.query<{ payouts: number; centavos: number }>(
        "select count(*)::int as payouts, sum(amount_centavos)::float8 as centavos from records.payouts where brand_id = $1 and status = 'paid'",
        [brand.id],
      );
      const [header, ...rows] = report.trim().split("\n");
      expect(header).toBe("month,campaign_id,payouts,creators,centavos");
      const total = (column: number): number => rows.reduce((sum, row) => sum + Number(row.split(",")[column]), 0);
      expect({ payouts: total(2), centavos: total(4) }).toEqual(expected);
    },
    RUN_MS_MAX,
  );

  it(
    "are typed",
    () =>
      run(join(programs, "mypy"), [
        "--ignore-missing-imports",
        "--strict",
        "--allow-untyped-decorators",
        ...RECEIVERS.map(([name]) => name),
        "nightly_copy.py",
      ]),
    RUN_MS_MAX,
  );
});

it(
  "airflow_copy.py copies everything in a run of its DAG",
  async () => {
    const programs = await programsWith("requirements-airflow.txt");
    const env = { AIRFLOW_HOME: join(folder, "airflow"), AIRFLOW__CORE__LOAD_EXAMPLES: "False", AIRFLOW__CORE__DAGS_FOLDER: folder };
    await run(join(programs, "airflow"), ["db", "migrate"], env);
    await run(join(programs, "python"), ["-c", "from airflow_copy import copy; copy.test()"], { ...env, COPY: "airflow.db" });
    await expectEqualCopy("airflow.db");
  },
  RUN_MS_MAX,
);
