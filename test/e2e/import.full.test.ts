import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEMO_RESOURCES } from "@brand-records/demo-data";
import { RESOURCE_NAMES, RESOURCES } from "@brand-records/resources";
import { fromServiceError } from "@brand-records/rpc";
import { eventually } from "@brand-records/testkit";
import { addressSettings, brandctl as runBrandctl, type Ended } from "../command-line.ts";
import { callContext, startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";

/** One promise: the brand's integrations read exactly what an operator imports with brandctl. */

let stack: SharedStack;
let brand: TestBrand;

beforeAll(async () => {
  stack = await startOnSharedServices();
  brand = await stack.createBrand({ tier: "enterprise" });
});
afterAll(() => stack.stop());

const brandctl = (...args: string[]): Promise<Ended> =>
  runBrandctl(args, { env: { ...addressSettings(stack.addresses), BASE_URL: stack.url } });

const linesOf = async (file: string) => (await readFile(file, "utf8")).trimEnd().split("\n");

const importSample = (resource: string) =>
  brandctl("records", "import", "--brand", brand.id, "--resource", resource, `test/samples/${resource}.ndjson`, "--json");

it.each(DEMO_RESOURCES)("returns the imported sample of %s through the gateway, newest first", async (resource) => {
  const samples = (await linesOf(`test/samples/${resource}.ndjson`)).map((line) => JSON.parse(line) as { id: string; created_at: string });
  expect(samples.length).toBeGreaterThanOrEqual(5);
  expect(await importSample(resource)).toMatchObject({ code: 0 });
  const page = (await (await stack.get(`/api/v1/${resource}`, brand.key)).json()) as { data: typeof samples };
  const newestFirst = samples.toSorted((a, b) => (`${b.created_at} ${b.id}` < `${a.created_at} ${a.id}` ? -1 : 1));
  expect(page.data).toEqual(newestFirst);
});

it.each(RESOURCE_NAMES)("imports %s: returns the declared example through the gateway", async (resource) => {
  const { example } = RESOURCES[resource];
  const fresh = await stack.createBrand();
  const folder = await mkdtemp(join(tmpdir(), "import-"));
  try {
    const file = join(folder, `${resource}.ndjson`);
    await writeFile(file, `${JSON.stringify(example)}\n`);
    expect(await brandctl("records", "import", "--brand", fresh.id, "--resource", resource, file)).toMatchObject({ code: 0, stderr: "" });
  } finally {
    await rm(folder, { recursive: true });
  }
  expect(await (await stack.get(`/api/v1/${resource}`, fresh.key)).json()).toEqual({ resource, count: 1, data: [example] });
});

it("changes nothing when a sample is imported again", async () => {
  expect((await importSample("submissions")).code).toBe(0);
  const { code, stdout } = await importSample("submissions");
  const unchanged = (await linesOf("test/samples/submissions.ndjson")).length;
  expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({ code: 0, summary: { inserted: 0, updated: 0, unchanged } });
});

it("imports nothing from a file with mistakes, and reports the line and field of each", async () => {
  const fresh = await stack.createBrand();
  const file = "test/samples/bad-submissions.ndjson";
  const { code, stderr, stdout } = await brandctl("records", "import", "--brand", fresh.id, "--resource", "submissions", file);
  expect(code).toBe(1);
  expect(stderr + stdout).toMatch(/line \d+: status: must be one of/);
  expect(await (await stack.get("/api/v1/submissions", fresh.key)).json()).toEqual({ resource: "submissions", count: 0, data: [] });
});

it("imports nothing for an unknown brand", async () => {
  const file = "test/samples/links.ndjson";
  const { code, stderr } = await brandctl("records", "import", "--brand", "brd_unknown", "--resource", "links", file);
  expect(code).toBe(1);
  expect(stderr).toMatch(/brd_unknown|no brand/i);
});

it("serves integrations during long imports, and refuses more than four imports at the same time", async () => {
  const begin = () => {
    const stream = stack.importing.importRecords(callContext());
    const refused = once(stream, "error").then(([error]) => fromServiceError(error as Parameters<typeof fromServiceError>[0]));
    stream.write({ start: { brand_id: brand.id, resource: "links", skip_bad: false } });
    stream.write({ chunk: { lines: [""] } });
    return { stream, refused };
  };
  const imports = [begin(), begin(), begin(), begin()];
  await Promise.all(imports.map(({ stream }) => once(stream, "data")));
  expect(await begin().refused).toMatchObject({ kind: "unavailable", retryAfterSeconds: 10 });
  for (const resource of RESOURCE_NAMES) expect((await stack.get(`/api/v1/${resource}`, brand.key)).status).toBe(200);
  for (const { stream } of imports) stream.cancel();
  expect((await Promise.all(imports.map(({ refused }) => refused))).map(({ kind }) => kind)).toEqual(imports.map(() => "unavailable"));
  await eventually(async () =>
    expect((await brandctl("records", "import", "--brand", brand.id, "--resource", "links", "test/samples/links.ndjson")).code).toBe(0),
  );
});

it("takes an operator from a new brand to its first response", async () => {
  const json = async (...parameters: string[]) => {
    const outcome = await brandctl(...parameters, "--json");
    expect(outcome).toMatchObject({ code: 0 });
    return JSON.parse(outcome.stdout) as Record<string, unknown>;
  };
  const { brand: created } = await json("brands", "create", "--name", "Tindahan ni Aling Nena", "--tier", "plus", "--verified");
  const { id } = created as { id: string };
  await json("members", "add", "nena@tindahan.example", "--brand", id, "--role", "owner");
  const key = await brandctl("keys", "create", "--brand", id, "--name", "Reporting");
  expect(key.stdout).toMatch(/^brk_live_[0-9A-Za-z]{36}\n$/);
  await json("records", "import", "--brand", id, "--resource", "links", "test/samples/links.ndjson");
  expect(await (await stack.get("/api/v1/links?limit=1", key.stdout.trim())).json()).toMatchObject({ resource: "links", count: 1 });
});
