import { globSync, readFileSync } from "node:fs";

/** One promise: the report of `npm run test:full` shows a budget for every part. */

it("every file that npm run test:full runs has a budget, and no other file has one", () => {
  const { "npm test": _, ...parts } = JSON.parse(readFileSync("test/budgets.json", "utf8")) as Record<string, number>;
  const files = globSync("{packages,services,gateway,deploy,test}/**/*.full.test.ts", { exclude: ["**/node_modules/**"] });
  expect(Object.keys(parts).toSorted()).toEqual(files.toSorted());
  // CI ends a run after 90 minutes.
  expect(Object.values(parts).reduce((sum, minutes) => sum + minutes, 0)).toBeLessThanOrEqual(60);
});
