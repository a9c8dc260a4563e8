import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createAccountsDatabase } from "../test/serve-accounts.ts";
import type { TestDatabase } from "@brand-records/testkit";

/** The program `after-restore.js` as operators run it: which options say what has happened since the backup. */

const PROGRAM = join(import.meta.dirname, "../dist/after-restore.js");

let restored: TestDatabase;
beforeAll(async () => {
  restored = await createAccountsDatabase();
});
afterAll(() => restored.drop());

it.each([
  ["needs files or the word that there is none, not neither", [], 78, "name what has happened since the backup"],
  ["not both", ["--without-audit", "--audit", "audit.ndjson"], 78, "name what has happened since the backup"],
  ["reads the files of --audit", ["--audit", "absent.ndjson"], 78, "cannot be read: ENOENT"],
  ["not that they are incomplete, without files", ["--incomplete"], 78, "name what has happened since the backup"],
  ["needs none with --without-audit", ["--without-audit"], 0, "restored database can be served"],
])("%s", async (_, args, code, text) => {
  const settings = { DATABASE_URL: restored.url, KEY_PEPPERS: `1:${randomBytes(32).toString("base64")}` };
  const env = { PATH: process.env["PATH"], ...settings };
  const exit = await new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
  expect(exit).toEqual({ code, output: expect.stringContaining(text) });
});
