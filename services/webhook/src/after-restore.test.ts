import { spawnSync } from "node:child_process";
import { join } from "node:path";

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
