import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { startForwardingProxy, type ForwardingProxy } from "../forwarding-proxy.ts";
import { seedBrand } from "../seed-brand.ts";
import { startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";
import { installedRuntime, NODE, NPM, oldestNode } from "./installed-runtime.ts";
import { PROGRAMS, runTool } from "./run-tool.ts";

/** One promise: the packed client, installed in an empty folder, is complete, small, well typed, and runs in every runtime. */

const ROOT = process.cwd();
const INSTALL_MS_MAX = 120_000;
/** Minified and compressed, with everything that the main entry exports. */
const BYTES_MAX = 12_000;

const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const SIZES = { campaigns: 2, submissions: 5, payouts: 5, deposits: 2, conversions: 2, links: 2 };

const EXPECTED = {
  payouts: 5,
  copied: 18,
  retries: ["no_response", "unavailable", "rate_limited"],
  planned: [36, "Smoke"],
  verified: true,
  refused: "wrong_signature",
  statuses: [204, 401],
  errors: ["invalid_parameter", "wrong_brand", "enough", "no_response"],
};

let stack: SharedStack;
let proxy: ForwardingProxy;
let brand: TestBrand;
let folder: string;
let archive: string;
let requests: number;
let running: ChildProcess | undefined;

beforeAll(async () => {
  stack = await startOnSharedServices({ RATE_LIMIT_PLUS: "100000" });
  brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  await seedBrand(stack, brand.id, SIZES);
  proxy = await startForwardingProxy(stack.url, {
    intercept: async (incoming, outgoing) => {
      // Never responds.
      if (incoming.url?.startsWith("/stall/") === true) return true;
      requests += 1;
      if (requests === 1) return outgoing.destroy().destroyed;
      if (requests === 3) outgoing.writeHead(503).end('{"error":{"code":"unavailable"}}');
      if (requests === 5) outgoing.writeHead(429, { "Retry-After": "1" }).end('{"error":{"code":"rate_limited"}}');
      return requests === 3 || requests === 5;
    },
  });
  folder = await mkdtemp(join(tmpdir(), "packed-client-"));
  await runTool(NPM, ["pack", "--workspace", "clients/client", "--pack-destination", folder], { cwd: ROOT });
  archive = join(folder, (await readdir(folder))[0] ?? "");
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  await runTool(NPM, ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--offline", archive], { cwd: folder });
  await cp(PROGRAMS, folder, { recursive: true });
}, INSTALL_MS_MAX);
beforeEach(() => {
  requests = 0;
});
afterAll(async () => {
  await proxy.stop();
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
});

const environment = () => ({ URL: proxy.url, KEY: brand.key, BRAND: brand.id, SECRET });

it("has no dependency, no import of Node.js, and at most 12 kB", async () => {
  const { dependencies, peerDependencies } = JSON.parse(await readFile(join(ROOT, "clients/client/package.json"), "utf8")) as Record<
    string,
    unknown
  >;
  expect([dependencies, peerDependencies]).toEqual([undefined, undefined]);
  expect(await readdir(join(folder, "node_modules"))).toEqual([".package-lock.json", "@brand-records"]);
  const dist = join(folder, "node_modules/@brand-records/client/dist");
  const files = (await readdir(dist, { recursive: true })).filter((file) => /\.(js|d\.ts)$/.test(file));
  expect(files.length).toBeGreaterThan(20);
  for (const file of files) expect(await readFile(join(dist, file), "utf8")).not.toMatch(/(from|import\() *"[^.]/);
  await bundle(join(dist, "index.js"), "bundle.js");
  const { length } = gzipSync(await readFile(join(folder, "bundle.js")), { level: 9 });
  expect(length).toBeGreaterThan(1_000);
  expect(length).toBeLessThanOrEqual(BYTES_MAX);
});

it("is as publint and attw want it", async () => {
  await runTool(NODE, [join(ROOT, "node_modules/publint/src/cli.js"), "run", "--strict", archive], { cwd: folder });
  // As ES modules only, which every Node.js from 20.19 can require too.
  await runTool(NODE, [join(ROOT, "node_modules/@arethetypeswrong/cli/dist/index.js"), archive, "--profile", "esm-only"], { cwd: folder });
});

it("is typed for a strict compiler that reads every declaration", async () => {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
    target: "es2022",
    module: "nodenext",
    types: [],
  };
  const examples = await writeExamples();
  expect(examples.length).toBeGreaterThan(9);
  const files = ["types.mts", "examples.d.mts", ...examples];
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...compilerOptions, lib: ["es2022", "dom", "dom.asynciterable"] }, files }),
  );
  await runTool(NODE, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder], { cwd: folder });
});

describe("runs", () => {
  it.each<[name: string, command: () => Promise<string>, args: string[]]>([
    ["on Node.js 20", oldestNode, ["smoke-process.mjs"]],
    ["on Node.js 24", async () => process.execPath, ["smoke-process.mjs"]],
    ["on Bun", () => installedRuntime("@oven/bun-linux-x64", "bin/bun"), ["smoke-process.mjs"]],
    [
      "on Deno",
      () => installedRuntime("@deno/linux-x64-glibc", "deno"),
      ["run", "--no-lock", "--node-modules-dir=manual", "--allow-env", "--allow-net=127.0.0.1", "smoke-process.mjs"],
    ],
  ])(
    "%s",
    async (_, command, args) => {
      const output = await runTool({ command: await command(), install: "its npm package" }, args, { cwd: folder, env: environment() });
      expect(JSON.parse(output)).toEqual(EXPECTED);
    },
    INSTALL_MS_MAX,
  );

  it(
    "on workerd",
    async () => {
      await bundle(join(folder, "smoke-worker.mjs"), "worker.mjs");
      const workerd = await installedRuntime("@cloudflare/workerd-linux-64", "bin/workerd");
      running = spawn(workerd, ["serve", "--control-fd=3", "smoke-worker.capnp"], {
        cwd: folder,
        env: environment(),
        stdio: ["ignore", "inherit", "inherit", "pipe"],
      });
      try {
        const [line] = (await once(running.stdio[3] as NodeJS.ReadableStream, "data")) as [Buffer];
        const { port } = JSON.parse(line.toString().split("\n")[0] ?? "") as { port: number };
        const response = await fetch(`http://127.0.0.1:${port}/`);
        expect(JSON.parse(await response.text())).toEqual(EXPECTED);
      } finally {
        running.kill("SIGKILL");
      }
    },
    INSTALL_MS_MAX,
  );
});

/** Writes the documents' examples as modules, and returns their names. */
async function writeExamples(): Promise<string[]> {
  const texts = await Promise.all(
    ["clients/client/README.md", "docs/api.md", "docs/webhooks.md", "README.md"].map((path) => readFile(path, "utf8")),
  );
  const examples = texts.flatMap((text) => [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code));
  await Promise.all(examples.map((code, number) => writeFile(join(folder, `example-${number}.mts`), `${code}\nexport {};\n`)));
  return examples.map((_, number) => `example-${number}.mts`);
}

/** Bundles a program and minifies it, into a file of the folder. */
async function bundle(entry: string, file: string): Promise<void> {
  await runTool(NODE, [join(ROOT, "node_modules/rolldown/bin/cli.mjs"), entry, "--format", "esm", "--minify", "-o", file], { cwd: folder });
}
