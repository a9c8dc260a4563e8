import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { findImports } from "./find-imports.ts";

/**
 * One promise: `tsc -b X` builds everything that X needs, and `npm ci --workspace X` installs it. Where everything is built
 * and installed already, a missing reference or dependency goes unnoticed; a fresh clone fails.
 */

const run = promisify(execFile);

/** jest runs in the repository's root. */
const ROOT = process.cwd();

interface Manifest {
  readonly name: string;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

interface Import {
  readonly file: string;
  readonly specifier: string;
}

interface Project {
  /** The tsconfig file. */
  readonly path: string;
  readonly files: readonly string[];
  readonly imports: readonly Import[];
  /** Folders relative to the root, or the path of a tsconfig file with another name. */
  readonly references: readonly string[];
}

let projects: Project[];
/** Keys are folders. */
let manifests: Map<string, Manifest>;
/** Keys are package names. */
let workspaces: Map<string, string>;

beforeAll(async () => {
  const { stdout } = await run("git", ["ls-files", "--cached", "--others", "--exclude-standard"]);
  const files = stdout.split("\n").filter((path) => path !== "" && existsSync(path));
  const manifestPaths = files.filter((path) => /(^|\/)package\.json$/.test(path));
  manifests = new Map(manifestPaths.map((path) => [dirname(path), JSON.parse(readFileSync(path, "utf8")) as Manifest]));
  workspaces = new Map([...manifests].map(([folder, { name }]) => [name, folder]));
  projects = await Promise.all(files.filter((path) => /(^|\/)tsconfig(\.tests)?\.json$/.test(path)).map(readProject));
});

/** Reads a project as the compiler does, with inherited settings and globs resolved. */
async function readProject(path: string): Promise<Project> {
  const { stdout } = await run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", path, "--showConfig"]);
  const shown = JSON.parse(stdout) as { files?: string[]; references?: { path: string }[] };
  const fromRoot = (target: string): string => relative(ROOT, resolve(dirname(path), target));
  const files = (shown.files ?? []).map(fromRoot);
  const imports = files.flatMap((file) => findImports(readFileSync(file, "utf8")).map((specifier) => ({ file, specifier })));
  return { path, files, imports, references: (shown.references ?? []).map((reference) => fromRoot(reference.path)) };
}

/** Returns the innermost folder with a package.json. */
function ownerOf(path: string): string {
  let folder = dirname(path);
  while (!manifests.has(folder)) folder = dirname(folder);
  return folder;
}

/** Returns the package of a bare specifier: `@scope/name` or `name`. */
const packageOf = (specifier: string): string => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");

/** Returns the workspace that an import needs built; undefined if it is the project's own file or not in a workspace. */
function workspaceOf({ file, specifier }: Import, { files }: Project): string | undefined {
  if (isAsset(specifier)) return undefined;
  if (!specifier.startsWith(".")) return workspaces.get(packageOf(specifier));
  const target = join(dirname(file), specifier);
  return files.includes(target) ? undefined : ownerOf(target);
}

/** Styles, pictures and texts, which only the bundler reads. */
const isAsset = (specifier: string): boolean => /^\..*\.(css|svg|md\?raw)$/.test(specifier);

/** True if the file's bundle has the package, which is then installed nowhere else. That of the command line has only our own. */
const isBundled = (file: string, dependency: string): boolean =>
  file.startsWith("console/web/") || (file.startsWith("clients/cli/") && workspaces.has(dependency));

const isForTests = (file: string): boolean => file.startsWith("test/");

it("reads every project and its imports", () => {
  const paths = projects.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(["tsconfig.json", "tsconfig.tests.json", "gateway/tsconfig.json", "test/tsconfig.json"]));
  expect(projects.filter(({ imports }) => imports.length === 0).map(({ path }) => path)).toEqual(["tsconfig.json"]);
  expect(findImports(readFileSync("test/structure/references.test.ts", "utf8"))).toHaveLength(6);
});

it("a project references every workspace that its sources import", () => {
  const missing = new Set<string>();
  for (const project of projects) {
    for (const imported of project.imports) {
      const workspace = workspaceOf(imported, project);
      if (workspace === undefined || project.references.includes(workspace)) continue;
      missing.add(`${project.path}: ${workspace}, which ${imported.file} imports`);
    }
  }
  expect([...missing]).toEqual([]);
});

it("a workspace declares every package that its sources import", () => {
  const missing = new Set<string>();
  // Tests beside the sources run only in the whole repository.
  const imports = projects.filter(({ path }) => path !== "tsconfig.tests.json").flatMap((project) => project.imports);
  for (const { file, specifier } of imports) {
    if (specifier.startsWith(".") || specifier.startsWith("node:") || builtinModules.includes(specifier)) continue;
    const owner = ownerOf(file);
    const { name, dependencies, devDependencies, peerDependencies } = manifests.get(owner) as Manifest;
    const dependency = packageOf(specifier);
    const declared = {
      ...dependencies,
      ...peerDependencies,
      ...(isBundled(file, dependency) && devDependencies),
      ...(isForTests(file) && { ...devDependencies, ...manifests.get(".")?.devDependencies }),
    };
    if (dependency !== name && !(dependency in declared)) missing.add(`${owner}/package.json: ${dependency}, which ${file} imports`);
  }
  expect([...missing]).toEqual([]);
});

it("npm run build builds every project", () => {
  const byPath = new Map(projects.map((project) => [project.path, project]));
  const built = new Set<string>();
  const build = (path: string): void => {
    if (built.has(path)) return;
    built.add(path);
    for (const reference of byPath.get(path)?.references ?? []) build(byPath.has(reference) ? reference : join(reference, "tsconfig.json"));
  };
  build("tsconfig.json");
  expect(projects.map(({ path }) => path).filter((path) => !built.has(path))).toEqual([]);
});
