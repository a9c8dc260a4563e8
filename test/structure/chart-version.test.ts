import { readFileSync } from "node:fs";

it("the chart has the version of the release", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  expect(readFileSync("deploy/helm/brand-records/Chart.yaml", "utf8")).toContain(`\nversion: ${version}\nappVersion: ${version}\n`);
});
