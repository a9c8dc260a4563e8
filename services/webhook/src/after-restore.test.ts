import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { createDatabase } from "@brand-records/testkit";

const PROGRAM = join(import.meta.dirname, "../dist/after-restore.js");
const SETTINGS = {
  ACCOUNTS_ADDRESS: "localhost:7000",
  DATABASE_URL: "postgres://localhost/webhook",
  RECEIVER_SECRET_KEYS: `1:${Buffer.alloc(32, 7).toString("base64")}`,
};

it.each([
  ["is misspelt", ["--sinc", "2026-11-23T06:00:00Z"], "'--sinc'"],
  ["has no value", ["--since"], "--since"],
  ["is no time", ["--since", "yesterday"], "--since: must be an RFC 3339 time"],
  ["is missing", [], "--since: must be an RFC 3339 time"],
])("exits with 78 if its option %s, and names it without a stack", (_, args, message) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { env: SETTINGS, encoding: "utf8" });
  expect({ status, output: stdout + stderr }).toEqual({ status: 78, output: expect.stringContaining(message) });
  expect(stdout + stderr).not.toContain("    at ");
});

it.each([["after-restore", "--since", "2026-11-23T06:00:00Z"], ["re-encrypt"]])(
  "%s exits with 78 if the database has no schema of webhook, and names the setting without a stack",
  async (program, ...args) => {
    const empty = await createDatabase("empty");
    const env = { ...SETTINGS, DATABASE_URL: empty.url };
    const script = PROGRAM.replace("after-restore", program);
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { env, encoding: "utf8" });
    await empty.drop();
    expect({ status, output: stdout + stderr }).toEqual({
      status: 78,
      output: expect.stringMatching(/^Invalid settings:\n {2}DATABASE_URL: the database has no schema webhook of a release: .*\n$/),
    });
  },
);
