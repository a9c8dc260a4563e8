import { readFileSync } from "node:fs";
import { repositoryFiles } from "../docs/pages.ts";

/** What neither the compiler nor lint sees in a source. */

const OURS = "test/structure/sources.test.ts";

/** Files whose path matches, and what of them has the pattern. */
function findIn(paths: RegExp, pattern: RegExp): { readonly searched: number; readonly found: readonly string[] } {
  const files = repositoryFiles().filter((path) => paths.test(path) && path !== OURS);
  return { searched: files.length, found: files.filter((path) => pattern.test(readFileSync(path, "utf8"))) };
}

it.each([
  // A swapped pair of positions would compile: the arrays of a batch are matched with its columns by name.
  ["every batch is built by unnestRows", /^(?!packages\/postgres\/).*\.ts$/, /unnest\(\s*\$\d/i],
  // Lint keeps storage/ and pg out of rpc/; the pool comes in with the dependencies.
  [
    "no handler queries the database or begins a transaction",
    /^services\/\w+\/src\/rpc\/.+(?<!\.test)\.ts$/,
    /\.(?:query|transaction)(?:<[^>]*>)?\(/,
  ],
  [
    "every link of the console has a checked path: `component={Link}` of Mantine takes any",
    /^console\/web\/src\/.*\.tsx$/,
    /component=\{\s*Link\s*\}/,
  ],
])("%s", (_, paths, pattern) => {
  const { searched, found } = findIn(paths, pattern);
  expect(searched).toBeGreaterThan(20);
  expect(found).toEqual([]);
});

it("the chart has the version of the release", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  expect(readFileSync("deploy/helm/brand-records/Chart.yaml", "utf8")).toContain(`\nversion: ${version}\nappVersion: ${version}\n`);
});

it("the Python client has the version of the release, in its lock too", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  for (const file of ["pyproject.toml", "uv.lock"]) {
    expect(readFileSync(`clients/python/${file}`, "utf8")).toContain(`\nname = "brand-records"\nversion = "${version}"\n`);
  }
});

it.each(["client", "cli"])("the published package %s leads to the repository, which the root's package.json names", (name) => {
  const read = (path: string) => JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown> & { repository: object };
  const root = read("package.json");
  const { repository, homepage, bugs, keywords } = read(`clients/${name}/package.json`);
  const directory = `clients/${name}`;
  expect({ repository, homepage, bugs }).toEqual({
    repository: { ...root.repository, directory },
    homepage: root["homepage"],
    bugs: root["bugs"],
  });
  expect(keywords).toEqual(expect.arrayContaining([expect.any(String)]));
});
