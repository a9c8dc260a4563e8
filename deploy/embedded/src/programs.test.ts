import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { parseConfig } from "./config.ts";
import { loadSecrets, localFiles, ROOT } from "./local-files.ts";
import { planPrograms } from "./programs.ts";

/** One promise: `npm start` builds and installs what it starts, in a fresh clone too. */

let directory: string;
let started: string[];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "programs-"));
  const files = localFiles(directory);
  const database = {
    urlFor: () => "postgres://x",
    platformUrl: async () => "postgres://x",
    ownerUrl: "postgres://x",
    stop: async () => {},
  };
  const { services, console, gateway } = await planPrograms(parseConfig({}), files, loadSecrets(files), database, {});
  started = [...services, console, gateway].map(({ script }) => relative(ROOT, script));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** The folders of all projects that `tsc -b folder` builds. */
function built(folder: string, seen = new Set<string>()): Set<string> {
  if (seen.has(folder)) return seen;
  seen.add(folder);
  const { references = [] } = readJson(join(folder, "tsconfig.json")) as { references?: { path: string }[] };
  for (const { path } of references) built(relative(ROOT, resolve(ROOT, folder, path)), seen);
  return seen;
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), "utf8"));
/** The package of a compiled main module: `services/accounts` for `services/accounts/dist/main.js`. */
const folderOf = (script: string): string => dirname(dirname(script));

it("builds every program that it starts", () => {
  expect(started.map(folderOf)).toEqual(expect.arrayContaining(["services/webhook", "console/server", "gateway"]));
  const projects = built("deploy/embedded");
  expect(started.filter((script) => !projects.has(folderOf(script)))).toEqual([]);
  for (const script of started) expect(existsSync(join(ROOT, script.replace("/dist/", "/src/").replace(/js$/, "ts")))).toBe(true);
});

it("declares every program that it starts as a dependency", () => {
  const { dependencies } = readJson("deploy/embedded/package.json") as { dependencies: Record<string, string> };
  const names = started.map((script) => (readJson(join(folderOf(script), "package.json")) as { name: string }).name);
  expect(names.filter((name) => !(name in dependencies))).toEqual([]);
});
