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
 * Removes the columns of others' packages from a source map, which rolldown adds to their lines. Node keeps a map decoded as soon as a stack is
 * written: the gateway's took 29 MiB and 260 ms, and takes 11 and 100.
 *
 * @param {string} file
 */
async function thin(file) {
  const map = JSON.parse(await readFile(file, "utf8"));
  const isOthers = map.sources.map((/** @type {string} */ source) => source.includes("/node_modules/"));
  const lines = decode(map.mappings).map((line) =>
    line.filter(([, source, number], i) => !(isOthers[source ?? -1] && source === line[i - 1]?.[1] && number === line[i - 1]?.[2])),
  );
  await writeFile(file, JSON.stringify({ ...map, mappings: encode(lines) }));
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
          return { code: code.replaceAll("__dirname", folder), map: lineMap(id, code) };
        }
        const url = `new URL(${JSON.stringify(relative(dir, id))}, import.meta.url).href`;
        return { code: code.replaceAll("import.meta.url", url), map: await readFile(`${id}.map`, "utf8") };
      },
    },
  };
}

/**
 * A source map that knows lines alone: with columns, those of others' packages would be five times as large.
 *
 * @param {string} file
 * @param {string} code
 */
function lineMap(file, code) {
  const lines = code.split("\n").length;
  return { version: 3, sources: [file], names: [], mappings: `AAAA${";AACA".repeat(lines - 1)}` };
}
