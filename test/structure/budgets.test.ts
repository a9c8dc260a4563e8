import { globSync, readFileSync } from "node:fs";

/** One promise: the report of `npm run test:full` shows a budget for every part. */

it("every file that npm run test:full runs has a budget, and no other file has one", () => {
  const { "npm test": _, ...parts } = JSON.parse(readFileSync("test/budgets.json", "utf8")) as Record<string, number>;
  const alonePaths = JSON.parse(readFileSync("test/alone.json", "utf8")) as string[];
  const files = globSync("{packages,clients,services,gateway,console,brandctl,deploy,test}/**/*.full.test.ts", {
    exclude: ["**/node_modules/**"],
  });
  expect(Object.keys(parts).toSorted()).toEqual(files.toSorted());
  const minutes = Object.entries(parts).map(([path, budget]) => (alonePaths.some((start) => path.startsWith(start)) ? budget : budget / 2));
  // CI ends a run after 90 minutes.
  expect(minutes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(50);
});
