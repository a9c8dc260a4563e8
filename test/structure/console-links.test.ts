import { globSync, readFileSync } from "node:fs";

it("every link of the console has a checked path: `component={Link}` of Mantine takes any", () => {
  const files = globSync("console/web/src/**/*.tsx");
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((file) => /component=\{\s*Link\s*\}/.test(readFileSync(file, "utf8")))).toEqual([]);
});
