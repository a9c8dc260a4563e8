import type { ChildProcess } from "node:child_process";
import { appendFile, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPool, type Database } from "@brand-records/postgres";
import { RESOURCES } from "@brand-records/resources";
import { newId } from "@brand-records/ids";
import { brandRecordsProcess, type Ended } from "../command-line.ts";
import { startForwardingProxy, type ForwardingProxy } from "../forwarding-proxy.ts";
import { readCsv } from "../read-csv.ts";
import { seedBrand } from "../seed-brand.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: an export has every record that existed when it began, each once, whatever interrupts it, or it has no file. */

const SIZES = { campaigns: 5, submissions: 10, payouts: 5, deposits: 0, conversions: 1_290, links: 5 };
/** Each has 200 records, the last fewer. */
const PAGES = 7;
const KILLS_MAX = 40;

type Json = Record<string, string | number | null>;

let stack: Stack;
let db: Database;
let proxy: ForwardingProxy;
let brand: TestBrand;
let other: TestBrand;
let folder: string;
let out: string;
let running: ChildProcess | undefined;
/** Called for the first, second, … request of a test. Returns whether it responded. */
let onRequest: (number: number, incoming: IncomingMessage, outgoing: ServerResponse) => Promise<boolean> | boolean;
let requests: number;

beforeAll(async () => {
  stack = await startStack({ env: { RATE_LIMIT_PLUS: "100000" } });
  db = openPool({ url: stack.databaseUrl, applicationName: "platform" });
  proxy = await startForwardingProxy(stack.url, {
    intercept: async (incoming, outgoing) => onRequest((requests += 1), incoming, outgoing),
  });
  brand = await stack.createBrand();
  other = await stack.createBrand();
  await seedBrand(stack, brand.id, SIZES);
});
beforeEach(async () => {
  onRequest = () => false;
  requests = 0;
  folder = await mkdtemp(join(tmpdir(), "export-"));
  out = join(folder, "conversions");
});
afterEach(() => rm(folder, { recursive: true }));
afterAll(async () => {
  await proxy.stop();
  await db.stop();
  await stack.stop();
});

function runExport(format: string, more: readonly string[] = [], key = brand.key): Promise<Ended> {
  return brandRecordsProcess(["export", "conversions", "--format", format, "--out", out, ...more], {
    env: { BRAND_RECORDS_URL: proxy.url, BRAND_RECORDS_KEY: key },
    onStart: (child) => (running = child),
  });
}

const stored = async (): Promise<Json[]> => {
  const columns = Object.keys(RESOURCES.conversions.schema.shape).join(", ");
  return db.query<Json>(`select ${columns} from records.conversions where brand_id = $1 order by created_at desc, id desc`, [brand.id]);
};
const exported = async (): Promise<Json[]> =>
  (await readFile(out, "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Json);

it("is complete and once each after a kill at every page and between pages, and nothing is left beside it", async () => {
  const expected = await stored();
  let kills = 0;
  // Some kills come before a page, others while it arrives or is written.
  onRequest = (number) => {
    if (number % 2 === 0) setTimeout(() => running?.kill("SIGKILL"), (number * 7) % 40);
    return false;
  };
  let ended: Ended;
  do ended = await runExport("ndjson");
  while (ended.code === null && (kills += 1) < KILLS_MAX);
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`${expected.length.toLocaleString("en")} records`) });
  expect(kills).toBeGreaterThan(2);
  expect(await exported()).toEqual(expected);
  expect(await readdir(folder)).toEqual(["conversions"]);
});

it("survives refusals, cut connections and cut pages without being run again, with records inserted below it", async () => {
  const expected = await stored();
  onRequest = async (number, _, outgoing) => {
    if (number === 2) {
      outgoing.writeHead(429, { "Retry-After": "1" }).end('{"error":{"code":"rate_limited","message":"m"}}');
      return true;
    }
    if (number === 4) return outgoing.destroy().destroyed;
    if (number === 6) {
      outgoing.writeHead(200, { "X-Brand-Id": brand.id, "Content-Length": "1000" }).write('{"resource":');
      setImmediate(() => outgoing.destroy());
      return true;
    }
    if (number === 3) await insert();
    return false;
  };
  const { code, stderr } = await runExport("ndjson");
  expect(code).toBe(0);
  expect(stderr).toContain("The brand's limit is used up: again in 1 s.");
  expect(await exported()).toEqual(expected);
});

/** Inserts a record that is newer than all others. */
async function insert(): Promise<void> {
  const columns = Object.keys(RESOURCES.conversions.schema.shape).filter((name) => !["id", "created_at", "external_id"].includes(name));
  await db.query(
    `insert into records.conversions (brand_id, id, created_at, external_id, ${columns.join(", ")})
     select brand_id, $2, now(), $2, ${columns.join(", ")} from records.conversions where brand_id = $1 limit 1`,
    [brand.id, newId("cnv")],
  );
}

describe("an export that was interrupted", () => {
  /** Interrupts at the third page, as Ctrl-C does. */
  async function interrupt(format = "ndjson", more: readonly string[] = []): Promise<Ended> {
    requests = 0;
    onRequest = (number) => {
      if (number === 3) running?.kill("SIGINT");
      return false;
    };
    const ended = await runExport(format, more);
    onRequest = () => false;
    return ended;
  }

  it("says how far it got, has no file yet, and continues", async () => {
    const ended = await interrupt();
    expect(ended).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/Interrupted\.\n\d+ records are in .*conversions\.part\. The same command continues/),
    });
    expect((await readdir(folder)).toSorted()).toEqual(["conversions.part", "conversions.state"]);
    requests = 0;
    const { stderr, stdout } = await runExport("ndjson", ["--json"]);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({ records: (await stored()).length, continued_after: expect.any(Number) });
    expect(requests).toBeLessThan(PAGES + 1);
    expect(await exported()).toEqual(await stored());
  });

  it("overwrites what a kill left of a page", async () => {
    await interrupt();
    await appendFile(`${out}.part`, '{"id":"cnv_to'.repeat(100_000));
    await runExport("ndjson");
    expect(await exported()).toEqual(await stored());
  });

  it.each<[string, string, string[], RegExp]>([
    ["another format", "csv", [], /begun with other arguments: conversions as ndjson, without filters/],
    ["other filters", "ndjson", ["--status", "approved"], /begun with other arguments.*\n.*--restart/],
    ["another form of CSV", "csv", ["--raw"], /begun with other arguments: conversions as ndjson/],
  ])("refuses %s, and begins again with --restart", async (_, format, more, message) => {
    await interrupt();
    expect(await runExport(format, more)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
    expect(await runExport(format, [...more, "--restart"])).toMatchObject({ code: 0 });
    expect(await readdir(folder)).toEqual(["conversions"]);
  });

  it("refuses another brand's key, and keeps what it has", async () => {
    await interrupt();
    const before = await readFile(`${out}.part`, "utf8");
    expect(await runExport("ndjson", [], other.key)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is of brand .*\nSet BRAND_RECORDS_KEY to a key of the brand .*\n\d+ records are in .*continues\.\n$/),
    });
    expect(await readFile(`${out}.part`, "utf8")).toBe(before);
    await runExport("ndjson");
    expect(await exported()).toEqual(await stored());
  });

  it("refuses a part that is shorter than its state says", async () => {
    await interrupt();
    await truncate(`${out}.part`, 10);
    expect(await runExport("ndjson")).toMatchObject({ code: 2, stderr: expect.stringMatching(/shorter than its state.*\nAdd --restart/) });
  });

  it("gets its name if a kill came right before that", async () => {
    await runExport("ndjson");
    const complete = await readFile(out, "utf8");
    await interrupt("ndjson", ["--replace"]);
    const state = JSON.parse(await readFile(`${out}.state`, "utf8")) as object;
    await writeFile(`${out}.part`, complete);
    await writeFile(
      `${out}.state`,
      JSON.stringify({ ...state, bytes: Buffer.byteLength(complete), records: (await stored()).length, complete: true }),
    );
    await rm(out);
    requests = 0;
    expect(await runExport("ndjson")).toMatchObject({ code: 0 });
    expect(requests).toBe(0);
    expect(await readFile(out, "utf8")).toBe(complete);
  });
});

describe("two exports", () => {
  it("never write into one file at once", async () => {
    let second: Promise<Ended> | undefined;
    onRequest = async (number) => {
      if (number === 2)
        second = brandRecordsProcess(["export", "conversions", "--format", "ndjson", "--out", out], {
          env: { BRAND_RECORDS_URL: proxy.url, BRAND_RECORDS_KEY: brand.key },
        });
      if (number === 2) await second;
      return false;
    };
    expect(await runExport("ndjson")).toMatchObject({ code: 0 });
    expect(await second).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Another export writes into .*\n.*delete .*conversions\.lock/),
    });
    expect(await exported()).toEqual(await stored());
  });
});

describe("files", () => {
  it("keeps an existing one, until --replace has a complete one", async () => {
    await writeFile(out, "mine");
    expect(await runExport("ndjson")).toMatchObject({ code: 2, stderr: expect.stringMatching(/exists\.\n--replace/) });
    expect(requests).toBe(0);
    onRequest = async (number) => {
      if (number === PAGES - 1) expect(await readFile(out, "utf8")).toBe("mine");
      return false;
    };
    expect(await runExport("ndjson", ["--replace"])).toMatchObject({ code: 0 });
    expect(await exported()).toEqual(await stored());
  });

  it("reports a folder that does not exist, and another file's part", async () => {
    const given = out;
    out = join(folder, "missing", "conversions");
    expect(await runExport("csv")).toMatchObject({ code: 2, stderr: expect.stringContaining("its folder does not exist") });
    out = given;
    await writeFile(`${out}.part`, "mine");
    expect(await runExport("csv")).toMatchObject({ code: 2, stderr: expect.stringMatching(/without the state of an export/) });
    expect(await readFile(`${out}.part`, "utf8")).toBe("mine");
  });

  it("writes the same to standard output", async () => {
    const piped = await brandRecordsProcess(["export", "conversions", "--format", "ndjson", "--out", "-"], {
      env: { BRAND_RECORDS_URL: proxy.url, BRAND_RECORDS_KEY: brand.key },
    });
    await runExport("ndjson");
    expect(piped.stdout).toBe(await readFile(out, "utf8"));
  });
});

describe("CSV", () => {
  it("has every field of every record, continues without a second heading, and makes no formula", async () => {
    const formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", 'a "quoted", comma'];
    const records = await stored();
    await Promise.all(
      formulas.map((text, at) =>
        db.query("update records.conversions set external_id = $3 where brand_id = $1 and id = $2", [
          brand.id,
          records[at * 150]?.["id"],
          text,
        ]),
      ),
    );
    onRequest = (number) => {
      if (number === 3) running?.kill("SIGKILL");
      return false;
    };
    await runExport("csv");
    onRequest = () => false;
    expect(await runExport("csv")).toMatchObject({ code: 0 });
    const [heading = [], ...rows] = readCsv(await readFile(out, "utf8"));
    const found = rows.map((row) => Object.fromEntries(heading.map((name, at) => [name, row[at]])));
    const expected = (await stored()).map((record) =>
      Object.fromEntries(
        Object.entries(record).map(([name, value]) => [
          name,
          /^[=+\-@\t\r]/.test(String(value)) ? `'${String(value)}` : value === null ? "" : String(value),
        ]),
      ),
    );
    expect(found).toEqual(expected);
    expect(rows.flat().filter((cell) => /^[=+\-@\t\r]/.test(cell))).toEqual([]);
    expect(rows.flat().filter((cell) => cell.startsWith("'"))).toHaveLength(formulas.length - 1);
  });

  it("of no records has the fields alone", async () => {
    const { stdout } = await brandRecordsProcess(["export", "deposits", "--format", "csv", "--out", "-"], {
      env: { BRAND_RECORDS_URL: proxy.url, BRAND_RECORDS_KEY: brand.key },
    });
    expect(stdout).toBe(`${Object.keys(RESOURCES.deposits.schema.shape).join(",")}\n`);
  });
});
