import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { decode, encode } from "@jridgewell/sourcemap-codec";
import { rolldown } from "rolldown";

/**
 * Bundles each program that `tsc -b` compiled, with all that it imports, into its `dist/bundle/main.js`: a few files to open, read and
 * compile at a start instead of 800.
 */

const ROOT = dirname(import.meta.dirname);
const PROGRAMS = ["gateway", "console/server", "services/accounts", "services/records", "services/plans", "services/webhook"];

/** In each file of a bundle, a variable with the bundle's folder. */
const FOLDER = "bundleFolder";

await Promise.all(PROGRAMS.map((program) => bundleProgram(join(ROOT, program, "dist"))));

/** @param {string} dist where the program is compiled */
async function bundleProgram(dist) {
  const dir = join(dist, "bundle");
  await rm(dir, { recursive: true, force: true });
  const bundle = await rolldown({
    input: join(dist, "main.js"),
    platform: "node",
    external: /^node:/,
    plugins: [modulesIn(dir)],
    logLevel: "warn",
    // How long our plugin takes is no warning.
    checks: { bundlerTimings: false },
  });
  await bundle.write({
    dir,
    format: "esm",
    chunkFileNames: "[name].js",
    sourcemap: true,
    banner: `var ${FOLDER} = import.meta.dirname;`,
  });
  await bundle.close();
  const files = await readdir(dir);
  await Promise.all(files.filter((file) => file.endsWith(".map")).map((file) => thin(join(dir, file))));
}

/**
 * Leaves lines alone of others' packages in a source map, which Node decodes as soon as a stack is written, and keeps: the gateway's takes 11 MiB.
 *
 * @param {string} file
 */
async function thin(file) {
  const map = JSON.parse(await readFile(file, "utf8"));
  const isOthers = map.sources.map((/** @type {string} */ source) => source.includes("/node_modules/"));
  const lines = decode(map.mappings).map((line) =>
    line.filter(([, source, number], i) => !(isOthers[source ?? -1] && source === line[i - 1]?.[1] && number === line[i - 1]?.[2])),
  );
  await writeFile(file, JSON.stringify({ ...map, sourcesContent: undefined, mappings: encode(lines) }));
}

/**
 * Every module keeps its place, beside which it finds its files, and its lines, which stacks name: ours those of their sources.
 *
 * @param {string} dir of the bundle
 * @returns {import("rolldown").Plugin}
 */
function modulesIn(dir) {
  return {
    name: "compiled modules",
    load: {
      filter: { id: /\.c?js$/ },
      async handler(id) {
        const code = await readFile(id, "utf8");
        if (id.includes("/node_modules/")) {
          const folder = `(${FOLDER} + ${JSON.stringify(`/${relative(dir, dirname(id))}`)})`;
          return { code: code.replaceAll("__dirname", folder) };
        }
        const url = `new URL(${JSON.stringify(relative(dir, id))}, import.meta.url).href`;
        return { code: code.replaceAll("import.meta.url", url), map: await readFile(`${id}.map`, "utf8") };
      },
    },
  };
}
