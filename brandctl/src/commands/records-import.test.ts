import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { DEMO_RESOURCES } from "@brand-records/demo-data";
import type { ResourceName } from "@brand-records/resources";
import { eventually } from "@brand-records/testkit";
import { startProduct, type TestBrand } from "../../test/product.ts";
import { serve } from "../../test/serve.ts";
import { failing, type Outcome, type Surroundings } from "../../test/test-terminal.ts";

/** The repository's root: jest runs there. */
const SAMPLES = join(process.cwd(), "test/samples");

describe("brandctl records import", () => {
  const product = startProduct();
  let brand: TestBrand;
  let folder: string;
  const run = (args: string[], surroundings: Surroundings = {}): Promise<Outcome> => {
    const env = { ...product.env, RECORDS_ADDRESS: product.recordsAddress };
    return product.run(["records", "import", "--brand", brand.id, ...args], { env, ...surroundings });
  };
  const stored = async (resource: ResourceName): Promise<string[]> =>
    (await product.db.query<{ id: string }>(`select id from records.${resource} where brand_id = $1 order by id`, [brand.id])).map(
      ({ id }) => id,
    );

  beforeEach(async () => {
    brand = await product.createBrand();
    folder = await mkdtemp(join(tmpdir(), "brandctl-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it.each(DEMO_RESOURCES)("imports the sample of %s from a file", async (resource) => {
    const file = join(SAMPLES, `${resource}.ndjson`);
    const count = (await readFile(file, "utf8")).trimEnd().split("\n").length;
    const { code, stdout, stderr } = await run(["--resource", resource, file]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(`Imported ${count} ${resource} into ${brand.id}: ${count} new.\n`);
    expect(await stored(resource)).toHaveLength(count);
  });

  it("reads standard input, with CRLF, a byte order mark, blank lines and no last line end", async () => {
    const [first = "", second = ""] = (await readFile(join(SAMPLES, "links.ndjson"), "utf8")).split("\n");
    const { code, stdout } = await run(["--resource", "links", "-"], { stdin: `\ufeff${first}\r\n\r\n   \n${second}` });
    expect(code).toBe(0);
    expect(stdout).toBe(`Imported 2 links into ${brand.id}: 2 new, 2 blank lines skipped.\n`);
    expect(await stored("links")).toEqual(["lnk_sample1", "lnk_sample2"]);
  });

  it("imports nothing when lines are bad, and reports each with its number", async () => {
    const { code, stdout, stderr } = await run(["--resource", "submissions", join(SAMPLES, "bad-submissions.ndjson")]);
    expect(code).toBe(1);
    expect(stdout).toBe("Nothing was imported: 22 of 22 lines are bad. Correct them, or import the others with --skip-bad.\n");
    const lines = stderr.trimEnd().split("\n");
    expect(lines.map((line) => /^line (\d+): /.exec(line)?.[1])).toEqual(Array.from({ length: 22 }, (_, i) => String(i + 1)));
    expect(lines[0]).toBe("line 1: is not valid JSON");
    expect(lines[5]).toBe("line 6: status: must be one of pending, approved, rejected, withdrawn");
    expect(await stored("submissions")).toEqual([]);
  });

  it("imports the good lines with --skip-bad, and exits with 1", async () => {
    const good = await readFile(join(SAMPLES, "submissions.ndjson"));
    const notUtf8 = Buffer.from([0x7b, 0xff, 0x7d, 0x0a]);
    const { code, stdout, stderr } = await run(["--resource", "submissions", "--skip-bad", "-"], { stdin: Buffer.concat([notUtf8, good]) });
    expect(code).toBe(1);
    expect(stderr).toBe("line 1: is not valid UTF-8\n");
    expect(stdout).toBe(`Imported 11 submissions into ${brand.id}: 11 new.\n1 bad line left out.\n`);
    expect(await stored("submissions")).toHaveLength(11);
  });

  it("prints one JSON document with --json", async () => {
    const { code, stderr, ...outcome } = await run(["--resource", "submissions", "--json", "-"], { stdin: "\n{}\n" });
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(outcome.json()).toMatchObject({
      summary: { lines: 2, blank: 1, bad: 1, inserted: 0, updated: 0, unchanged: 0, committed: false },
      problems: expect.arrayContaining([{ line: 2, field: "id", message: expect.any(String) }]),
    });
  });

  it.each([
    ["", "the input holds no lines"],
    ["\n\n", "the input holds only 2 blank lines"],
  ])("says that there is nothing to import in %j", async (stdin, message) => {
    expect(await run(["--resource", "links", "-"], { stdin })).toMatchObject({ code: 0, stdout: expect.stringContaining(message) });
  });

  it("shows a progress bar on a terminal, and nowhere else", async () => {
    const file = join(SAMPLES, "links.ndjson");
    expect((await run(["--resource", "links", file], { isTerminal: true })).stderr).toContain("█");
    expect((await run(["--resource", "links", file])).stderr).toBe("");
    expect((await run(["--resource", "links", "--json", file], { isTerminal: true })).stderr).toBe("");
  });

  it("says that nothing was imported when it is interrupted midway", async () => {
    const stop = new AbortController();
    const stdin = new PassThrough();
    const running = run(["--resource", "links", "-"], { stdin, interrupted: stop.signal });
    stdin.write(await readFile(join(SAMPLES, "links.ndjson")));
    // The import has started once it holds a transaction.
    const begun =
      "select from pg_stat_activity where application_name = 'records import' and state <> 'idle' and datname = current_database()";
    await eventually(async () => expect(await product.db.query(begun)).toHaveLength(1));
    stop.abort();
    expect(await running).toMatchObject({ code: 130, stdout: "", stderr: "error: Interrupted. Nothing was imported.\n" });
    expect(await stored("links")).toEqual([]);
  });

  it("can be interrupted before the first input", async () => {
    const stop = new AbortController();
    const running = run(["--resource", "links", "-"], { stdin: new PassThrough(), interrupted: stop.signal });
    stop.abort();
    expect(await running).toMatchObject({ code: 130, stderr: "error: Interrupted. Nothing was imported.\n" });
  });

  it.each([
    ["a missing file", ["--resource", "links", "/no/such.ndjson"], "the file does not exist"],
    ["a directory", ["--resource", "links", "/"], "it is a directory"],
  ])("refuses %s", async (_, args, message) => {
    expect(await run(args)).toMatchObject(failing(1, message));
  });

  it("recognises another format, instead of reporting every line", async () => {
    const file = join(folder, "array.json");
    await writeFile(file, '[{"id":"lnk_1"}]');
    const { code, stderr } = await run(["--resource", "links", file]);
    expect(code).toBe(1);
    expect(stderr).toContain("The input is a JSON array, not NDJSON");
    expect(stderr).toContain("jq -c '.[]'");
  });

  it("imports nothing for an unknown brand, if the address of accounts is known", async () => {
    const args = ["records", "import", "--brand", "brd_none", "--resource", "links", join(SAMPLES, "links.ndjson")];
    const { ACCOUNTS_ADDRESS } = product.env;
    expect(await product.run(args, { env: { ACCOUNTS_ADDRESS, RECORDS_ADDRESS: product.recordsAddress } })).toMatchObject(
      failing(1, "There is no brand brd_none. Nothing was changed."),
    );
    expect(await product.run(args, { env: { RECORDS_ADDRESS: product.recordsAddress } })).toMatchObject({ code: 0 });
  });

  it("names the address of a records service that cannot be reached", async () => {
    const closed = await serve();
    await closed.stop();
    const env = { RECORDS_ADDRESS: closed.address };
    const { code, stderr } = await run(["--resource", "links", join(SAMPLES, "links.ndjson")], { env });
    expect(code).toBe(1);
    expect(stderr).toContain(`records cannot be reached at ${closed.address}`);
    expect(stderr).toContain("Nothing was imported.");
  });
});
