import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { installedOnce } from "./installed-once.ts";
import { PINNED } from "./pinned-versions.ts";
import { runTool, type Program, type Tool } from "./run-tool.ts";

const ROOT = process.cwd();
const PROGRAM = join(ROOT, "test/clients/programs/main.mts");
const NPM: Tool = { command: "npm", install: "Node.js 24 with npm" };
const NODE: Tool = { command: process.execPath, install: "Node.js 24" };

/** Options as strict as our own build's, except for those that generated code fails. */
const TSCONFIG = {
  extends: join(ROOT, "tsconfig.base.json"),
  compilerOptions: {
    composite: false,
    erasableSyntaxOnly: false,
    exactOptionalPropertyTypes: false,
    noUncheckedIndexedAccess: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
    noImplicitOverride: false,
    rootDir: ".",
    outDir: "dist",
    lib: ["es2024", "dom", "dom.iterable"],
    typeRoots: [join(ROOT, "node_modules/@types")],
  },
  include: ["**/*.ts", "**/*.mts"],
};

/** Generates a client with @hey-api/openapi-ts, and compiles it with the program with our compiler. */
export async function buildTypescriptClient(folder: string, description: string): Promise<Program> {
  const packages = (["@hey-api/openapi-ts", "typescript"] as const).map((name) => `${name}@${PINNED[name]}`);
  const tools = await installedOnce(`openapi-ts-${PINNED["@hey-api/openapi-ts"]}-${PINNED.typescript}`, (prefix) =>
    runTool(NPM, ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", prefix, ...packages], { cwd: prefix }),
  );
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
  // Node.js requires an extension in imports.
  const config = { input: description, output: { path: "client", module: { extension: ".js" } }, plugins: ["@hey-api/client-fetch"] };
  await writeFile(join(folder, "openapi-ts.config.mjs"), `export default ${JSON.stringify(config)};`);
  await runTool(NODE, [join(tools, "node_modules/@hey-api/openapi-ts/bin/run.js"), "--no-log-file"], { cwd: folder });
  await cp(PROGRAM, join(folder, "main.mts"));
  await runTool(NODE, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder], { cwd: folder });
  return { tool: NODE, args: ["dist/main.mjs"] };
}
