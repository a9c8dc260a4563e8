import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startReceivers } from "../receivers.ts";
import { oldestNode } from "../clients/installed-runtime.ts";

/** One promise: the packed command line works in a folder that has nothing else, on every Node.js that it supports. */

const run = promisify(execFile);
const INSTALL_MS_MAX = 180_000;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "command-line-package-"));
  // Without its scripts, which would build into the folders that other tests use.
  await run("npm", ["pack", "--ignore-scripts", "--workspace", "clients/cli", "--pack-destination", folder]);
  const [tarball] = await readdir(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
  await run("npm", ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", `./${tarball}`], { cwd: folder });
}, INSTALL_MS_MAX);
afterAll(() => rm(folder, { recursive: true }));

let node = process.execPath;
const brandRecords = (...args: string[]) => run(node, ["node_modules/.bin/brand-records", ...args], { cwd: folder });

it("installs what others wrote, and needs no other package of ours", async () => {
  expect(await readdir(join(folder, "node_modules/@brand-records"))).toEqual(["cli"]);
});

it.each<[name: string, path: () => Promise<string>, code: number, text: string]>([
  ["this Node.js", async () => process.execPath, 1, "no X-Brand-Id"],
  ["Node.js 20", oldestNode, 2, "SQLite needs Node.js 22.13 or later, and this is 20."],
])("runs each part of the bundle on %s", async (_, path, code, text) => {
  node = await path();
  expect((await brandRecords("--version")).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const server = await startReceivers();
  const { url } = server;
  await writeFile(join(folder, "secret"), `whsec_${"A".repeat(43)}=`);
  const sent = await brandRecords("events", "send", "payout.paid", "--to", url, "--secret-file", "secret");
  expect(sent.stdout).toContain("accepted (204, ");
  // It accepts everything.
  await expect(brandRecords("receivers", "prove", "--to", url, "--secret-file", "secret")).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining("7 rules are broken"),
  });
  const env = { ...process.env, BRAND_RECORDS_URL: url, BRAND_RECORDS_KEY: `brk_live_${"a".repeat(36)}` };
  const withKey = (...args: string[]) => run(node, ["node_modules/.bin/brand-records", ...args], { cwd: folder, env });
  // With the bundle, the module of SQLite is loaded, where there is one.
  await expect(withKey("sync", "--db", "copy.db")).rejects.toMatchObject({ code, stderr: expect.stringContaining(text) });
  await expect(brandRecords("listen", "--secret-file", "secret", "--host", "192.0.2.1")).rejects.toMatchObject({
    stderr: expect.stringContaining("Cannot listen on port 8787 of 192.0.2.1"),
  });
  server.stop();
  await writeFile(join(folder, "headers"), "webhook-id: evt_1");
  await expect(
    brandRecords("events", "verify", "--secret-file", "secret", "--headers", "headers", "--body", "headers"),
  ).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("Not verified") });
  const exporting = withKey("export", "links", "--format", "csv", "--out", "missing/links");
  await expect(exporting).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining("its folder does not exist") });
});

it("copies into Postgres once the package pg is installed, and says so before", async () => {
  node = process.execPath;
  const env = { ...process.env, BRAND_RECORDS_URL: "http://127.0.0.1:1", BRAND_RECORDS_KEY: `brk_live_${"a".repeat(36)}` };
  const sync = () => run(node, ["node_modules/.bin/brand-records", "sync", "--db", "postgres://127.0.0.1:1/copy"], { cwd: folder, env });
  await expect(sync()).rejects.toMatchObject({ code: 2, stderr: expect.stringMatching(/needs the package pg\nnpm install --global pg/) });
  await run("npm", ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "pg"], { cwd: folder });
  await expect(sync()).rejects.toMatchObject({ code: 1, stderr: "error: brand_copy in 127.0.0.1:1/copy: nothing listens there\n" });
});
