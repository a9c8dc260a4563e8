import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "@brand-records/postgres";
import { createDatabase, type TestDatabase } from "@brand-records/testkit";

/** The program `after-restore.js` as operators run it: which options and settings name the live database. */

const PROGRAM = join(import.meta.dirname, "../dist/after-restore.js");

const createAccounts = (): Promise<TestDatabase> =>
  createDatabase("accounts_schema", async (url) => {
    await migrate({ url, schema: "accounts", directory: join(import.meta.dirname, "../migrations") });
  });

let restored: TestDatabase;
let live: TestDatabase;
let folder: string;
beforeAll(async () => {
  [restored, live] = await Promise.all([createAccounts(), createAccounts()]);
  folder = mkdtempSync(join(tmpdir(), "after-restore-"));
  writeFileSync(join(folder, "live"), live.url);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all([restored.drop(), live.drop()]);
});

interface Exit {
  readonly code: number;
  readonly output: string;
}

const run = (args: readonly string[], env: Record<string, string> = {}): Promise<Exit> => {
  const settings = { DATABASE_URL: restored.url, KEY_PEPPERS: `1:${randomBytes(32).toString("base64")}` };
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], { env: { PATH: process.env["PATH"], ...settings, ...env } }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
};

it("takes --live-schema alone for a schema of DATABASE_URL, so that no password is among the arguments", async () => {
  const { code, output } = await run(["--live-schema", "accounts"]);
  expect({ code, output }).toEqual({ code: 78, output: expect.stringContaining("this is the restored schema itself") });
});

it.each([["LIVE_DATABASE_URL"], ["LIVE_DATABASE_URL_FILE"]])("compares with the database of %s", async (name) => {
  const value = name === "LIVE_DATABASE_URL" ? live.url : join(folder, "live");
  const { code, output } = await run([], { [name]: value });
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining("restored database can be served") });
  expect(await run(["--live-schema", "other"], { [name]: value })).toEqual({ code: 1, output: expect.stringContaining("other.") });
});

it("compares with the database of --live, as before", async () => {
  expect(await run(["--live", live.url])).toMatchObject({ code: 0 });
});

it.each<[string, string[], Record<string, string>]>([
  ["none", [], {}],
  ["two", ["--live-schema", "accounts_before", "--audit", "audit.ndjson"], {}],
  ["one of the environment beside one of the options", ["--without-audit"], { LIVE_DATABASE_URL: "postgres://localhost/live" }],
  ["a live database twice", ["--live", "postgres://localhost/one"], { LIVE_DATABASE_URL: "postgres://localhost/two" }],
])("needs one source, not %s", async (_, args, env) => {
  expect(await run(args, env)).toEqual({ code: 78, output: expect.stringContaining("name what has happened since the backup") });
});

it("names LIVE_DATABASE_URL if it is no URL, without its value", async () => {
  const { code, output } = await run([], { LIVE_DATABASE_URL: "hunter2" });
  expect({ code, output }).toEqual({ code: 78, output: expect.stringContaining("LIVE_DATABASE_URL: must be a postgres:// URL") });
  expect(output).not.toContain("hunter2");
});
