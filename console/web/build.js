import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { access, glob, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/**
 * Builds the browser's files into dist, if they are not those of the present sources. `npm start` and `npm run build` run it.
 *
 * Vite writes into a folder of this process, which replaces dist when it is complete: an interrupted build leaves the earlier one, and
 * removes its own folder. The next build removes that of a killed one.
 */

const HERE = import.meta.dirname;
const ROOT = join(HERE, "../..");
const DIST = join(HERE, "dist");
/** Sources in other folders. Of the contract the pages run a few files only; which ones changes now and then. */
const OUTSIDE = ["packages/resources/src/plans/limits.ts", "console/contract/src/*.ts", "docs/assistants.md", "package-lock.json"];
const exclude = (/** @type {string} */ path) => path.endsWith(".test.ts");
/** Names the sources that dist was built from. */
const STAMP = "sources.sha256";

/** Everything that a build depends on; the lock file stands for the packages of others. */
async function hashSources() {
  const files = [];
  for await (const file of glob(["index.html", "build.js", "vite.config.js", "src/**/*.*"], { cwd: HERE })) files.push(join(HERE, file));
  for await (const file of glob(OUTSIDE, { cwd: ROOT, exclude })) files.push(join(ROOT, file));
  const contents = await Promise.all(files.toSorted().map(async (file) => [relative(ROOT, file), await readFile(file, "base64")]));
  return hash("sha256", JSON.stringify(contents));
}

const sources = await hashSources();
if ((await readFile(join(DIST, STAMP), "utf8").catch(() => "")) !== sources) await build();

async function build() {
  // Loaded only now: Vite takes half a second to load.
  const { build: runVite } = await import("vite");
  await removeLeftovers();
  const folder = `${DIST}.${process.pid}`;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
      process.exit(130);
    });
  }
  try {
    await mkdir(folder);
    await runVite({ configFile: join(HERE, "vite.config.js"), logLevel: "warn", build: { outDir: folder } });
    for await (const file of glob("assets/*.*", { cwd: folder })) await compress(join(folder, file));
    await writeFile(join(folder, STAMP), sources);
    await rm(DIST, { recursive: true, force: true });
    await rename(folder, DIST).catch(ignoreIfBuilt);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes the folders of builds that were killed. */
async function removeLeftovers() {
  for await (const folder of glob("dist.*", { cwd: HERE })) {
    if (!isRunning(Number(folder.slice("dist.".length)))) await rm(join(HERE, folder), { recursive: true, force: true });
  }
}

function isRunning(/** @type {number} */ pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Writes the compressed forms that the server sends. */
async function compress(/** @type {string} */ path) {
  const bytes = await readFile(path);
  const [brotli, zipped] = await Promise.all([
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
    promisify(gzip)(bytes, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${path}.br`, brotli), writeFile(`${path}.gz`, zipped)]);
}

/** Another process may have finished the same build first. */
async function ignoreIfBuilt(/** @type {unknown} */ error) {
  try {
    await access(join(DIST, STAMP));
  } catch {
    throw error;
  }
}
