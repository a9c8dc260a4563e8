import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { migrate } from "@brand-records/postgres";
import { createDatabase, type TestDatabase } from "@brand-records/testkit";

/** The program `after-restore.js` as operators run it: which options say what has happened since the backup. */

const PROGRAM = join(import.meta.dirname, "../dist/after-restore.js");

let restored: TestDatabase;
beforeAll(async () => {
  restored = await createDatabase("accounts_schema", async (url) => {
    await migrate({ url, schema: "accounts", directory: join(import.meta.dirname, "../migrations") });
  });
});
afterAll(() => restored.drop());

interface Exit {
  readonly code: number;
  readonly output: string;
}

const run = (args: readonly string[]): Promise<Exit> => {
  const settings = { DATABASE_URL: restored.url, KEY_PEPPERS: `1:${randomBytes(32).toString("base64")}` };
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], { env: { PATH: process.env["PATH"], ...settings } }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
};

it.each<[string, string[]]>([
  ["neither", []],
  ["both", ["--without-audit", "--audit", "audit.ndjson"]],
  ["that files are incomplete, and none", ["--incomplete"]],
])("needs files or the word that there is none, not %s", async (_, args) => {
  expect(await run(args)).toEqual({ code: 78, output: expect.stringContaining("name what has happened since the backup") });
});

it.each([["--live-schema"], ["--live"]])("knows no %s", async (option) => {
  expect(await run([option, "accounts_before"])).toEqual({ code: 78, output: expect.stringContaining(`Unknown option '${option}'`) });
});

it("reads the files of --audit, and needs none with --without-audit", async () => {
  expect(await run(["--audit", "absent.ndjson"])).toEqual({ code: 78, output: expect.stringContaining("cannot be read: ENOENT") });
  expect(await run(["--without-audit"])).toEqual({ code: 0, output: expect.stringContaining("restored database can be served") });
});
