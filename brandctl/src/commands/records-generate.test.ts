import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEMO_RESOURCES } from "@brand-records/demo-data";
import { RESOURCES } from "@brand-records/resources";
import { startProduct } from "../../test/product.ts";
import { failing, brandctl, type Outcome, type Surroundings } from "../../test/test-terminal.ts";

const run = (line: string, surroundings?: Surroundings): Promise<Outcome> =>
  brandctl(`records generate --brand brd_1 ${line}`.trim().split(" "), surroundings);

describe("brandctl records generate", () => {
  const product = startProduct();
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "brandctl-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("writes a file for each resource", async () => {
    const out = join(folder, "new/one");
    const outcome = await run(`--out ${out} --now 2026-11-21T08:30:00Z --json`);
    expect(outcome.code).toBe(0);
    const { files, ...about } = outcome.json<{ files: { resource: string; path: string; records: number; bytes: number }[] }>();
    expect(about).toEqual({ brand_id: "brd_1", seed: 1, now: "2026-11-21T08:30:00.000Z" });
    expect((await readdir(out)).toSorted()).toEqual(DEMO_RESOURCES.map((name) => `${name}.ndjson`).toSorted());
    for (const name of DEMO_RESOURCES) {
      const text = await readFile(join(out, `${name}.ndjson`), "utf8");
      const lines = text.trimEnd().split("\n");
      for (const line of lines) RESOURCES[name].schema.parse(JSON.parse(line));
      expect(files.find(({ resource }) => resource === name)).toMatchObject({ records: lines.length, bytes: Buffer.byteLength(text) });
    }
  });

  it("writes a single resource to standard output, with the requested number of records", async () => {
    const { code, stdout, stderr } = await run("--resource conversions --conversions 1234 --size medium");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.trimEnd().split("\n")).toHaveLength(1_234);
  });

  it("makes records whose references match, even if each resource is made by a separate command", async () => {
    const sameFlags = "--seed 5 --now 2026-11-21T08:30:00Z";
    const idsOf = async (resource: string, key: string): Promise<string[]> =>
      (await run(`--resource ${resource} ${sameFlags}`)).stdout
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as Record<string, string>)[key] ?? "");
    const campaigns = new Set(await idsOf("campaigns", "id"));
    for (const id of await idsOf("submissions", "campaign_id")) expect(campaigns).toContain(id);
  });

  it("imports a resource before the resources that refer to it", async () => {
    const { id } = await product.createBrand();
    const line = "records generate --import --resource submissions campaigns --submissions 20 --json";
    const outcome = await product.run(`${line} --brand ${id}`, { env: { ...product.env, RECORDS_ADDRESS: product.recordsAddress } });
    expect(outcome.code).toBe(0);
    expect(outcome.json()).toMatchObject({
      imports: [
        { resource: "campaigns", summary: { inserted: 4 } },
        { resource: "submissions", summary: { inserted: 20 } },
      ],
    });
  });

  it.each([
    ["", "Choose where the records go"],
    ["--out - --size small", "name one resource with --resource"],
    ["--resource links --json", "the records themselves go to standard output"],
    ["--resource links --links 0 --conversions 5", "--links: at least 1 is needed"],
    ["--conversions many --import", "It must be a whole number"],
    ["--now yesterday --import", "It must be an RFC 3339 time"],
    ["--size huge --import", "Allowed choices are small, medium, large"],
    ["--import --out x", "cannot be used with"],
  ])("refuses %j", async (line, message) => {
    expect(await run(line)).toMatchObject(failing(2, message));
  });

  it("leaves no partial file when it is interrupted", async () => {
    const { code, stderr } = await run(`--out ${folder}`, { interrupted: AbortSignal.abort() });
    expect(code).toBe(130);
    expect(stderr).toContain("was not written");
    expect(await readdir(folder)).toEqual([]);
  });

  it("names the file that cannot be written", async () => {
    expect(await run(`--out /dev/null/x`)).toMatchObject(failing(1, "/dev/null/x cannot be written: part of the path is not a directory."));
  });
});
