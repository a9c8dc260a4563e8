import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { installedOnce, NPM, PINNED } from "./installed-runtime.ts";
import { runTool, type Program, type Tool } from "./run-tool.ts";

const ROOT = process.cwd();
const PROGRAMS = join(ROOT, "test/clients/programs");

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
  await cp(join(PROGRAMS, "main.mts"), join(folder, "main.mts"));
  await runTool(NODE, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder], { cwd: folder });
  return { tool: NODE, args: ["dist/main.mjs"] };
}

const PYTHON: Tool = { command: "python3", install: "Python 3.11 or newer with venv (Debian: python3-venv)" };

/**
 * Returns the folder of programs of a virtual environment.
 *
 * @param name includes the versions
 * @param packages such as `mcp==2.3.0`
 */
export async function pythonPrograms(name: string, packages: readonly string[]): Promise<string> {
  const environment = await installedOnce(name, async (target) => {
    await runTool(PYTHON, ["-m", "venv", target], { cwd: target });
    const pip: Tool = { ...PYTHON, command: join(target, "bin/pip") };
    await runTool(pip, ["install", "--quiet", "--disable-pip-version-check", ...packages], { cwd: target });
  });
  return join(environment, "bin");
}

/** Generates a client with openapi-python-client, and compiles it with the program. */
export async function buildPythonClient(folder: string, description: string): Promise<Program> {
  const version = PINNED["openapi-python-client"];
  const programs = await pythonPrograms(`openapi-python-client-${version}`, [`openapi-python-client==${version}`]);
  const generator: Tool = { ...PYTHON, command: join(programs, "openapi-python-client") };
  const python: Tool = { ...PYTHON, command: join(programs, "python") };
  await runTool(generator, ["generate", "--path", description, "--output-path", "brand_records", "--meta", "none"], { cwd: folder });
  await cp(join(PROGRAMS, "main.py"), join(folder, "main.py"));
  await runTool(python, ["-m", "compileall", "-q", "."], { cwd: folder });
  return { tool: python, args: ["main.py"] };
}

const GO: Tool = { command: "go", install: "Go 1.25 or newer (https://go.dev/dl)" };
const GENERATOR = "github.com/oapi-codegen/oapi-codegen/v2";
const RUNTIME = "github.com/oapi-codegen/runtime";

/** Generates a client with oapi-codegen, and compiles it with the program. Go caches its downloads. */
export async function buildGoClient(folder: string, description: string): Promise<Program> {
  await mkdir(join(folder, "client"));
  await writeFile(join(folder, "go.mod"), `module example.com/brand-records\n\ngo 1.25\n\nrequire ${RUNTIME} ${PINNED[RUNTIME]}\n`);
  const generator = `${GENERATOR}/cmd/oapi-codegen@${PINNED[GENERATOR]}`;
  const options = ["-generate", "types,client", "-package", "client", "-o", "client/client.gen.go", description];
  await runTool(GO, ["run", generator, ...options], { cwd: folder });
  await cp(join(PROGRAMS, "main.go"), join(folder, "main.go"));
  await runTool(GO, ["build", "-mod=mod", "-o", "program", "."], { cwd: folder });
  return { tool: { command: join(folder, "program"), install: GO.install }, args: [] };
}
