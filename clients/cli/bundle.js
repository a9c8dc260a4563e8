import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";

/**
 * Bundles what `tsc -b` compiled into dist/bundle, which the package publishes. The repository's own packages that are not published are in
 * it; what package.json lists as a dependency is not.
 */

const HERE = import.meta.dirname;
const { dependencies, peerDependencies } = JSON.parse(await readFile(join(HERE, "package.json"), "utf8"));
const installed = Object.keys({ ...dependencies, ...peerDependencies });
const isInstalled = (/** @type {string} */ id) => installed.some((name) => id === name || id.startsWith(`${name}/`));

const dir = join(HERE, "dist/bundle");
await rm(dir, { recursive: true, force: true });
const bundle = await rolldown({
  input: join(HERE, "dist/main.js"),
  platform: "node",
  external: (id) => id.startsWith("node:") || isInstalled(id),
  logLevel: "warn",
});
const { output } = await bundle.write({ dir, format: "esm", chunkFileNames: "[name].js" });
const others = output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : [])).filter((id) => id.includes("/node_modules/"));
if (others.length > 0) throw new Error(`package.json must list what others wrote as a dependency: ${others.join(", ")}`);
await bundle.close();
