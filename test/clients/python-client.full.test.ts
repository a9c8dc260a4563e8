import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openPool, type Database } from "@brand-records/postgres";
import { RESOURCE_NAMES, RESOURCES, type ResourceName } from "@brand-records/resources";
import { CertificateAuthority, startConnectProxy } from "@brand-records/testkit";
import { NODE } from "./installed-runtime.ts";
import { buildPythonClient, examplesOf, PYTHON_CLIENT, runInPython } from "./python-client.ts";
import { runTool } from "./run-tool.ts";
import { brandRecordsProcess } from "../command-line.ts";
import { seedBrand } from "../seed-brand.ts";
import { startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";

/** One promise: the client for Python is typed, tested, and reads the service as its README says. */

const README = "clients/python/README.md";
const SIZES = { campaigns: 8, submissions: 250, payouts: 205, deposits: 20, conversions: 405, links: 30 };
/** The first run makes the environment. */
const CHECK_MS_MAX = 10 * 60_000;
/** At most, without its tests and its generated types. */
const LINES_MAX = 900;
const CONFIGURED = ["--config", "pyproject.toml"];
const PROGRAMS_BESIDE = ["../../examples/python", "../../test/clients/behaviour/drivers"];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "python-client-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("the sources", () => {
  it.each<[name: string, program: string, args: readonly string[]]>([
    ["are as ruff lints them, programs beside them too", "ruff", ["check", ...CONFIGURED, ".", ...PROGRAMS_BESIDE]],
    ["are as ruff formats them, programs beside them too", "ruff", ["format", "--check", ...CONFIGURED, ".", ...PROGRAMS_BESIDE]],
    ["are typed, as mypy says at its strictest, and refuse what is mistyped", "mypy", ["src", "tests"]],
    ["pass their tests", "pytest", ["-q"]],
  ])(
    "%s",
    async (_, program, args) => {
      await runInPython(program, args);
    },
    CHECK_MS_MAX,
  );

  it(
    "are typed, as pyright says",
    async () => {
      const python = (await runInPython("python", ["-c", "import sys; print(sys.executable)"])).trim();
      const pyright = join(process.cwd(), "node_modules/pyright/index.js");
      await runTool(NODE, [pyright, "--pythonpath", python, "src"], { cwd: PYTHON_CLIENT });
    },
    CHECK_MS_MAX,
  );

  it("are small", async () => {
    const counted = await runTool({ command: "bash", install: "bash" }, ["-c", "cat src/brand_records/*.* | wc -l"], {
      cwd: PYTHON_CLIENT,
    });
    expect(Number(counted)).toBeLessThanOrEqual(LINES_MAX);
  });

  it(
    "are built into the same archives, wherever they are",
    async () => {
      const [first, second] = [await buildPythonClient(join(folder, "first")), await buildPythonClient(join(folder, "second"), true)];
      expect([...first.keys()].map((file) => file.replace(/^brand_records-\d+\.\d+\.\d+/, "")).toSorted()).toEqual([
        "-py3-none-any.whl",
        ".tar.gz",
      ]);
      expect(second).toEqual(first);
    },
    CHECK_MS_MAX,
  );
});

it("trusts the authority that SSL_CERT_FILE names, through the proxy that HTTPS_PROXY names", async () => {
  const { cert, key, ca } = new CertificateAuthority(folder).issue("service", { names: ["DNS:records.example"] });
  const server = createServer({ cert: await readFile(cert), key: await readFile(key) }, (_, response) =>
    response.writeHead(200, { "X-Brand-Id": "brd_1" }).end('{"resource":"payouts","data":[]}'),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const proxy = await startConnectProxy(() => ({ port }));
  const program = `from brand_records import BrandRecords, BrandRecordsError
try:
    print(BrandRecords("https://records.example", "brk_live_x").payouts().page().meta.brand_id)
except BrandRecordsError as error:
    print(error.attempts, error)`;
  const env = { HTTPS_PROXY: proxy.url, NO_PROXY: "" };
  expect(await runInPython("python", ["-c", program], { env })).toMatch(/^1 .*certificate.*SSL_CERT_FILE/i);
  expect(await runInPython("python", ["-c", program], { env: { ...env, SSL_CERT_FILE: ca } })).toBe("brd_1\n");
  expect(proxy.targets).toEqual(["records.example:443", "records.example:443"]);
  await proxy.stop();
  server.close();
  server.closeAllConnections();
});

describe("beside the service", () => {
  let stack: SharedStack;
  let db: Database;
  let brand: TestBrand;
  beforeAll(async () => {
    stack = await startOnSharedServices({ RATE_LIMIT_PLUS: "100000" });
    db = openPool({ url: stack.databaseUrl, applicationName: "platform" });
    brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
    await seedBrand(stack, brand.id, SIZES);
  });
  afterAll(async () => {
    await db.stop();
    await stack.stop();
  });

  const stored = (resource: ResourceName): Promise<object[]> =>
    db.query(
      `select ${Object.keys(RESOURCES[resource].schema.shape).join(", ")} from records.${resource} where brand_id = $1 order by id`,
      [brand.id],
    );

  /** Compares the records of a copy, and its views, with the database. Returns the copy, to be closed. */
  async function expectEqualCopy(file: string): Promise<DatabaseSync> {
    const copy = new DatabaseSync(join(folder, file), { readOnly: true });
    for (const resource of RESOURCE_NAMES) {
      const records = copy.prepare("select record from records where resource = ? order by id").all(resource);
      const expected = await stored(resource);
      expect(records.map(({ record }) => JSON.parse(String(record)) as unknown)).toEqual(expected);
      const rows = copy.prepare(`select * from ${resource} order by id`).all();
      expect(
        rows.map((row) => ({ ...row, ...("platforms" in row && { platforms: JSON.parse(String(row["platforms"])) as unknown }) })),
      ).toEqual(expected);
    }
    return copy;
  }

  it(
    "the examples of its README are typed, and run one after the other; the copy that they make equals the database",
    async () => {
      const program = join(folder, "readme.py");
      await writeFile(program, `${(await examplesOf(README, "python")).join("\n")}\nrecords.close()\n`);
      await runInPython("mypy", ["--config-file", "pyproject.toml", program]);
      const env = { BRAND_RECORDS_URL: stack.url, BRAND_RECORDS_KEY: brand.key, BRAND_ID: brand.id };
      const printed = await runInPython("python", ["-W", "error", program], { cwd: folder, env });
      expect(printed).toContain("/workspaces/blitz/plans/pln_");

      const copy = await expectEqualCopy("copy.db");
      for (const query of (await examplesOf(README, "sql"))
        .join("")
        .split(";")
        .filter((each) => each.includes("select")))
        copy.prepare(query).all();
      copy.close();
    },
    CHECK_MS_MAX,
  );

  it(
    "its copy and that of brand-records sync are one: each goes on with the other's walk",
    async () => {
      const env = { BRAND_RECORDS_URL: stack.url, BRAND_RECORDS_KEY: brand.key };
      // The program ends itself after a page of payouts, in the middle of its walk.
      const interrupted = join(folder, "interrupted.py");
      await writeFile(
        interrupted,
        `import os, sys
from brand_records import BrandRecords, SqliteStore
with BrandRecords(os.environ["BRAND_RECORDS_URL"], os.environ["BRAND_RECORDS_KEY"]) as records, SqliteStore("shared.db") as store:
    records.sync(store, on_page=lambda page: sys.exit(0) if page.resource == "payouts" else None)
`,
      );
      await runInPython("python", [interrupted], { cwd: folder, env });
      const finished = await brandRecordsProcess(["sync", "--db", join(folder, "shared.db")], { env });
      expect(finished).toMatchObject({ code: 0 });
      const copy = await expectEqualCopy("shared.db");
      expect(copy.prepare("select count(*) as walks, count(finished_at) as finished from walks").get()).toEqual({ walks: 1, finished: 1 });
      copy.close();

      expect(await brandRecordsProcess(["sync", "--db", join(folder, "begun.db")], { env })).toMatchObject({ code: 0 });
      await runInPython("python", ["-c", (await readFile(interrupted, "utf8")).replace("shared.db", "begun.db").replace("payouts", "")], {
        cwd: folder,
        env,
      });
      (await expectEqualCopy("begun.db")).close();
    },
    CHECK_MS_MAX,
  );
});
