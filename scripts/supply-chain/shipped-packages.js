/** What users of a release get: the image's programs. */
const PROGRAMS = /^(services\/[^/]+|gateway|brandctl|console\/(server|web))$/;
/** Workspace whose development dependencies are bundled into the pages, but for these, which build them. */
const PAGES = "console/web";
const BUILD_TOOLS = /^(vite|lightningcss|@vitejs\/.*|@types\/.*|@brand-records\/.*)$/;

const NODE_MODULES = "node_modules/";

/**
 * Returns the paths in package-lock.json of what the image contains: what the programs depend on, directly or not, and what is bundled into
 * the console's pages. Not what npm marks as `dev` or `optional`: those marks are about the whole repository, and `npm sbom --omit dev` also
 * leaves out what anything here has as a development dependency, such as express.
 */
export function shippedPaths({ packages }) {
  const shipped = new Set();
  const visit = (path, names) => {
    for (const name of names) {
      const found = resolve(packages, path, name);
      if (found === undefined || shipped.has(found)) continue;
      shipped.add(found);
      const target = packages[found].link ? packages[found].resolved : found;
      visit(target, needed(packages[target]));
    }
  };
  for (const [path, entry] of Object.entries(packages)) {
    if (!PROGRAMS.test(path)) continue;
    visit(path, needed(entry));
    if (path === PAGES)
      visit(
        path,
        Object.keys(entry.devDependencies).filter((name) => !BUILD_TOOLS.test(name)),
      );
  }
  return shipped;
}

/** npm installs peers too. Optional packages are a database and a Node, which the image does not contain. */
function needed({ dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {}, optionalDependencies = {} }) {
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
  return [...Object.keys(dependencies), ...peers].filter((name) => !(name in optionalDependencies));
}

/** Finds a package as Node does: in the nearest node_modules above. */
function resolve(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const path = `${folder === "" ? "" : `${folder}/`}${NODE_MODULES}${name}`;
    if (path in packages) return path;
    if (folder === "") return undefined;
  }
}

/** Returns the names of the repository's own packages that the image contains. */
export function shippedOwn(lock) {
  const targets = [...shippedPaths(lock)].filter((path) => lock.packages[path].link).map((path) => lock.packages[path].resolved);
  const programs = Object.keys(lock.packages).filter((path) => PROGRAMS.test(path));
  return [...new Set([...targets, ...programs])].map((path) => lock.packages[path].name);
}

/** The packages from registries, each with the licence that it declares. */
export function packagesIn(lock) {
  const shipped = shippedPaths(lock);
  return Object.entries(lock.packages)
    .filter(([path, { link }]) => path.includes(NODE_MODULES) && !link)
    .map(([path, { name, version, license }]) => ({
      name: name ?? path.slice(path.lastIndexOf(NODE_MODULES) + NODE_MODULES.length),
      version,
      licence: license,
      isShipped: shipped.has(path),
    }));
}
