import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { installedNode, NODE } from "./installed-runtime.ts";
import {
  bundle,
  INSTALL_MS_MAX,
  installPackedClient,
  linkPackages,
  SMOKE_RESULTS,
  startSmokeService,
  type PackedClient,
  type SmokeService,
} from "./packed-client.ts";
import { runTool } from "./run-tool.ts";

/** One promise: the packed client, installed in an empty folder, is complete, small, well typed, and its documents' examples work. */

const ROOT = process.cwd();
/** Minified and compressed: everything that the main entry exports, and verifyDelivery alone. */
const BYTES_MAX = { "*": 8_000, "{ verifyDelivery }": 2_500 };

let client: PackedClient;
let folder: string;
let service: SmokeService;
beforeAll(async () => {
  [client, service] = await Promise.all([installPackedClient(), startSmokeService()]);
  ({ folder } = client);
}, INSTALL_MS_MAX);
afterAll(async () => {
  await service.stop();
  await client.remove();
});

it("has no dependency, no import of Node.js, and the sources of its code for debuggers", async () => {
  const { dependencies, peerDependencies } = JSON.parse(await readFile(join(ROOT, "clients/client/package.json"), "utf8")) as Record<
    string,
    unknown
  >;
  expect([dependencies, peerDependencies]).toEqual([undefined, undefined]);
  expect(await readdir(join(folder, "node_modules"))).toEqual([".package-lock.json", "@brand-records"]);
  for (const form of ["dist", "commonjs"]) {
    const path = join(folder, "node_modules/@brand-records/client", form);
    const files = (await readdir(path, { recursive: true })).filter((file) => /\.(js|d\.ts)$/.test(file));
    expect(files.length).toBeGreaterThan(40);
    for (const file of files) {
      const text = await readFile(join(path, file), "utf8");
      expect(text).not.toMatch(/(from|import\(|require\() *"[^.]/);
      if (!file.endsWith(".js")) continue;
      const { sourcesContent } = JSON.parse(await readFile(join(path, `${file}.map`), "utf8")) as { sourcesContent: string[] };
      expect(sourcesContent).toEqual([expect.stringContaining("export ")]);
    }
  }
});

it.each(Object.entries(BYTES_MAX))("export %s takes few bytes", async (what, bytesMax) => {
  await writeFile(join(folder, "entry.mjs"), `export ${what} from "@brand-records/client";`);
  await bundle(folder, "entry.mjs", "bundle.js");
  const { length } = gzipSync(await readFile(join(folder, "bundle.js")), { level: 9 });
  expect(length).toBeGreaterThan(1_000);
  expect(length).toBeLessThanOrEqual(bytesMax);
});

it("is as publint and attw want it, for every way to resolve a module", async () => {
  await runTool(NODE, [join(ROOT, "node_modules/publint/src/cli.js"), "run", "--strict", client.archive], { cwd: folder });
  await runTool(NODE, [join(ROOT, "node_modules/@arethetypeswrong/cli/dist/index.js"), client.archive], { cwd: folder });
});

it("runs on the oldest Node.js by require, and on this one by import", async () => {
  for (const [command, program] of [
    [await installedNode("20.0.0"), "smoke.cjs"],
    [process.execPath, "smoke-process.mjs"],
  ] as const) {
    service.failNext();
    const output = await runTool({ command, install: "its npm package" }, [program], { cwd: folder, env: service.env });
    expect(JSON.parse(output)).toEqual(SMOKE_RESULTS);
  }
});

describe("the documents' examples", () => {
  let examples: string[];
  beforeAll(async () => {
    examples = await writeExamples();
    await linkPackages(folder, join(ROOT, "node_modules"), ["hono", "undici"]);
  });

  it("are typed, as is every declaration, for a strict compiler", async () => {
    expect(examples.length).toBeGreaterThan(12);
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      target: "es2022",
      module: "nodenext",
      types: [],
      lib: ["es2022", "dom", "dom.asynciterable"],
    };
    const check = async (files: readonly string[], skipLibCheck: boolean): Promise<void> => {
      await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: { ...compilerOptions, skipLibCheck }, files }));
      await runTool(NODE, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder], { cwd: folder });
    };
    await check(["types.mts"], false);
    // Declarations of Hono and undici are not ours.
    await check(["examples.d.mts", ...examples], true);
  });

  it("run, and accept an event where they receive", async () => {
    const statuses: number[] = [];
    const stored: string[] = [];
    for (const example of examples) {
      const env = {
        ...service.env,
        BRAND_RECORDS_URL: service.env.URL,
        BRAND_RECORDS_KEY: service.env.KEY,
        WEBHOOK_SECRET: service.env.SECRET,
      };
      const output = await runTool(NODE, ["--disable-warning=ExperimentalWarning", "run-example.mjs", `./${example}`], {
        cwd: folder,
        env,
      });
      const ended = JSON.parse(output.trim().split("\n").at(-1) ?? "") as { statuses: number[]; stored: string[] };
      statuses.push(...ended.statuses);
      stored.push(...ended.stored);
    }
    expect(statuses).toEqual([204, 204, 204, 204]);
    expect(stored).toEqual(
      expect.arrayContaining(["evt_1: 241000", "evt_1: po_1", expect.stringMatching(/^cnv_/), expect.stringMatching(/^lnk_/)]),
    );
  });

  /** Writes them as modules, with the service that runs in place of the one that they name. Returns their names. */
  async function writeExamples(): Promise<string[]> {
    const pages = ["clients/client/README.md", "clients/cli/README.md", "docs/api.md", "docs/webhooks.md", "README.md"];
    const texts = await Promise.all(pages.map((path) => readFile(path, "utf8")));
    const codes = texts.flatMap((text) => [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code));
    const { URL: url, BRAND } = service.env;
    const filled = codes.map((code) => code.replaceAll("https://records.example", url).replaceAll(/brd_01\w+/g, BRAND));
    await Promise.all(filled.map((code, number) => writeFile(join(folder, `example-${number}.mts`), `${code}\nexport {};\n`)));
    return codes.map((_, number) => `example-${number}.mts`);
  }
});
