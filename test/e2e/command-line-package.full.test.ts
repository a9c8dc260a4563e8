import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startReceivers } from "../receivers.ts";
import { oldestNode } from "../clients/installed-runtime.ts";

/** One promise: the packed client and command line work in a folder that has nothing else, on every Node.js that they support. */

const run = promisify(execFile);
const INSTALL_MS_MAX = 180_000;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "command-line-package-"));
  const workspaces = ["--workspace", "clients/client", "--workspace", "clients/cli"];
  // Without its scripts, which would build into the folders that other tests use.
  await run("npm", ["pack", "--ignore-scripts", ...workspaces, "--pack-destination", folder]);
  const tarballs = (await readdir(folder)).map((name) => `./${name}`);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
  await run("npm", ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", ...tarballs], { cwd: folder });
}, INSTALL_MS_MAX);
afterAll(() => rm(folder, { recursive: true }));

let node = process.execPath;
const brandRecords = (...args: string[]) => run(node, ["node_modules/.bin/brand-records", ...args], { cwd: folder });

it("installs what others wrote, and none of our unpublished packages", async () => {
  expect((await readdir(join(folder, "node_modules/@brand-records"))).toSorted()).toEqual(["cli", "client"]);
});

it.each<[name: string, path: () => Promise<string>]>([
  ["this Node.js", async () => process.execPath],
  ["Node.js 20", oldestNode],
])("runs each part of the bundle on %s", async (_, path) => {
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
    stdout: expect.stringContaining("8 rules are broken"),
  });
  server.stop();
  await writeFile(join(folder, "headers"), "webhook-id: evt_1");
  await expect(
    brandRecords("events", "verify", "--secret-file", "secret", "--headers", "headers", "--body", "headers"),
  ).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("Not verified") });
  const env = { ...process.env, BRAND_RECORDS_URL: url, BRAND_RECORDS_KEY: `brk_live_${"a".repeat(36)}` };
  const args = ["node_modules/.bin/brand-records", "export", "links", "--format", "csv", "--out", "missing/links"];
  const exporting = run(node, args, { cwd: folder, env });
  await expect(exporting).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining("its folder does not exist") });
});
