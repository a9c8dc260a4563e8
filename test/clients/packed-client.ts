import { randomBytes } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startForwardingProxy } from "../forwarding-proxy.ts";
import { seedBrand } from "../seed-brand.ts";
import { startOnSharedServices } from "../stack.ts";
import { NODE, NPM } from "./installed-runtime.ts";
import { PROGRAMS, runTool } from "./run-tool.ts";

const ROOT = process.cwd();

/** Milliseconds for what packs and installs. */
export const INSTALL_MS_MAX = 180_000;

export interface PackedClient {
  /** Has nothing but the client, installed, and the programs beside it. */
  readonly folder: string;
  readonly archive: string;
  remove(): Promise<void>;
}

/** Packs the client, and installs it in an empty folder. */
export async function installPackedClient(): Promise<PackedClient> {
  const folder = await mkdtemp(join(tmpdir(), "packed-client-"));
  await runTool(NPM, ["pack", "--workspace", "clients/client", "--pack-destination", folder], { cwd: ROOT });
  const archive = join(folder, (await readdir(folder))[0] ?? "");
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  await runTool(NPM, ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--offline", archive], { cwd: folder });
  await cp(PROGRAMS, folder, { recursive: true });
  const required = (await readFile(join(folder, "smoke.mjs"), "utf8"))
    .replaceAll(/^import (\{.*\}) from (".*");$/gm, "const $1 = require($2);")
    .replace("export async function smoke", "require('./smoke-process.cjs').run(smoke);\nasync function smoke");
  await writeFile(join(folder, "smoke.cjs"), required);
  return { folder, archive, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Lets the folder's programs use packages that are installed elsewhere. */
export async function linkPackages(folder: string, modules: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const target = join(folder, "node_modules", name);
    await mkdir(join(target, ".."), { recursive: true });
    await symlink(join(modules, name), target);
  }
}

/** Bundles a program and minifies it, into a file of the folder. */
export async function bundle(folder: string, entry: string, file: string): Promise<void> {
  await runTool(NODE, [join(ROOT, "node_modules/rolldown/bin/cli.mjs"), entry, "--format", "esm", "--minify", "-o", file], { cwd: folder });
}

/** What smoke.mjs returns. */
export const SMOKE_RESULTS = {
  payouts: 5,
  copied: 18,
  retries: ["no_response", "unavailable", "rate_limited"],
  planned: [36, "Smoke"],
  verified: true,
  refused: "wrong_signature",
  statuses: [204, 401],
  errors: ["invalid_parameter", "wrong_brand", "enough", "no_response"],
};

export interface SmokeService {
  /** The environment of the programs. */
  readonly env: Readonly<Record<"URL" | "KEY" | "BRAND" | "SECRET", string>>;
  /** Fails the first requests that come next: a lost connection, 503, 429. Under /stall/ nothing is ever responded. */
  failNext(): void;
  stop(): Promise<void>;
}

export async function startSmokeService(): Promise<SmokeService> {
  const stack = await startOnSharedServices({ RATE_LIMIT_PLUS: "100000" });
  const brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  await seedBrand(stack, brand.id, { campaigns: 2, submissions: 5, payouts: 5, deposits: 2, conversions: 2, links: 2 });
  let requests = Infinity;
  const proxy = await startForwardingProxy(stack.url, {
    intercept: async (incoming, outgoing) => {
      if (incoming.url?.startsWith("/stall/") === true) return true;
      requests += 1;
      if (requests === 1) return outgoing.destroy().destroyed;
      if (requests === 3) outgoing.writeHead(503).end('{"error":{"code":"unavailable"}}');
      if (requests === 5) outgoing.writeHead(429, { "Retry-After": "1" }).end('{"error":{"code":"rate_limited"}}');
      return requests === 3 || requests === 5;
    },
  });
  return {
    env: { URL: proxy.url, KEY: brand.key, BRAND: brand.id, SECRET: `whsec_${randomBytes(32).toString("base64")}` },
    failNext: () => (requests = 0),
    async stop() {
      await proxy.stop();
      await stack.stop();
    },
  };
}
