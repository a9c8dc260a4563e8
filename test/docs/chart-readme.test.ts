import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { parse } from "yaml";

const CHART = "deploy/helm/brand-records";

it("the chart's README is what the comments of its values say, one for each: npm run chart:readme writes it", async () => {
  // A process of its own: prettier does not run within jest.
  await promisify(execFile)(process.execPath, ["scripts/chart-readme.js", "--check"]);
});

it("values.yaml has every value that the schema takes, but those that a process adds to all", () => {
  const { properties } = JSON.parse(readFileSync(`${CHART}/values.schema.json`, "utf8")) as { properties: object };
  const values = parse(readFileSync(`${CHART}/values.yaml`, "utf8")) as object;
  expect(Object.keys(values).toSorted()).toEqual(Object.keys(properties).toSorted());
});
