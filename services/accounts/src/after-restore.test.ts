import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createAccountsDatabase } from "../test/serve-accounts.ts";
import { createDatabase, startRedisServer, type TestDatabase } from "@brand-records/testkit";

/** The program `after-restore.js` as operators run it: which options say what has happened since the backup, and what it refuses. */

const PROGRAM = join(import.meta.dirname, "../dist/after-restore.js");

let restored: TestDatabase;
let empty: TestDatabase;
beforeAll(async () => {
  [restored, empty] = await Promise.all([createAccountsDatabase(), createDatabase("empty")]);
});
afterAll(() => Promise.all([restored.drop(), empty.drop()]));

/** @returns its exit code and output */
const run = (url: string, args: string[], settings: object = {}): Promise<{ code: number; output: string }> =>
  new Promise((resolve) => {
    const env = { PATH: process.env["PATH"], DATABASE_URL: url, KEY_PEPPERS: `1:${randomBytes(32).toString("base64")}`, ...settings };
    execFile(process.execPath, [PROGRAM, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });

it.each([
  ["needs files or the word that there is none, not neither", [], 78, "name what has happened since the backup"],
  ["not both", ["--without-audit", "--audit", "audit.ndjson"], 78, "name what has happened since the backup"],
  ["reads the files of --audit", ["--audit", "absent.ndjson"], 78, "cannot be read: ENOENT"],
  ["not that they are incomplete, without files", ["--incomplete"], 78, "name what has happened since the backup"],
  ["needs none with --without-audit", ["--without-audit"], 0, "restored database can be served"],
])("%s", async (_, args, code, text) => {
  expect(await run(restored.url, args)).toEqual({ code, output: expect.stringContaining(text) });
});

it("refuses a database to which no backup was restored, names the setting without a stack, and makes no schema, however often it runs", async () => {
  for (let times = 0; times < 2; times += 1) {
    const { code, output } = await run(empty.url, ["--without-audit"]);
    expect(code).toBe(78);
    expect(output).toMatch(
      /^Invalid settings:\n {2}DATABASE_URL: the database has no schema accounts of a release: .* backup restored\?\n$/,
    );
  }
});

it("refuses a login that Redis refuses, and names the setting without a stack", async () => {
  const redis = await startRedisServer({ requirepass: "right" });
  for (const [login, words] of [
    [":wrong@", "WRONGPASS"],
    ["", "NOAUTH"],
  ] as const) {
    const settings = { REDIS_URL: redis.url.replace("//", `//${login}`), LOG_LEVEL: "error" };
    const { code, output } = await run(restored.url, ["--without-audit"], settings);
    expect({ code, output }).toEqual({ code: 78, output: expect.stringMatching(`^Invalid settings:\n  REDIS_URL: ${words} .*\n$`) });
  }
  await redis.stop();
});
