import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** As `npm run chart-files` writes them. */
it.each([
  ["rules", ".yml"],
  ["dashboards", ".json"],
])("the chart has the %s of deploy/observability", async (folder, extension) => {
  const [source, copy] = await Promise.all(
    [join(ROOT, "deploy/observability", folder), join(ROOT, "deploy/helm/brand-records/files", folder)].map((path) =>
      readFiles(path, extension),
    ),
  );
  expect(source?.size).toBeGreaterThan(0);
  expect(copy).toEqual(source);
});

it("the chart has the version of the release", async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { version: string };
  const chart = await readFile(join(ROOT, "deploy/helm/brand-records/Chart.yaml"), "utf8");
  expect(chart).toContain(`\nversion: ${version}\nappVersion: ${version}\n`);
});

async function readFiles(folder: string, extension: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(extension)).toSorted();
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")] as const)));
}
