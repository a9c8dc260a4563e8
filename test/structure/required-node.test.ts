import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { nodeProblem } from "@brand-records/config/require-node";
import { nodePrograms } from "../node-programs.ts";

/** One promise: every program looks at its Node before anything else, and its package says what it needs. */

const programs = nodePrograms();

it("finds the programs of every service", () => {
  const expected = ["gateway/src/main.ts", "console/server/src/main.ts", "services/accounts/src/migrate.ts", "brandctl/src/main.ts"];
  expect(programs).toEqual(expect.arrayContaining(expected));
});

it.each(programs)("%s imports the check first", (path) => {
  expect(readFileSync(path, "utf8").split("\n")[0]).toBe('import "@brand-records/config/require-node";');
});

it.each([...new Set(programs.map(packageOf))])("engines of %s is the oldest version that the check accepts", (path) => {
  const { engines } = JSON.parse(readFileSync(path, "utf8")) as { engines?: { node?: string } };
  const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(engines?.node ?? "") ?? [];
  expect(nodeProblem(`${major}.${minor}.0`)).toBeUndefined();
  expect(nodeProblem(`${major}.${Number(minor) - 1}.0`)).toContain(`${major}.${minor} or newer is needed`);
});

function packageOf(path: string): string {
  return join(path.slice(0, path.lastIndexOf("/src/")) || dirname(path), "package.json");
}
