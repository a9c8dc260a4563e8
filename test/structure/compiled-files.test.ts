import { repositoryFiles } from "../docs/pages.ts";

/** One promise: no compiled file stands beside its source, where a compiler that failed may leave it, and where programs would find it first. */

const compiledBeside = (files: readonly string[]): string[] => {
  const sources = new Set(files.map((path) => /^(.+?)(?<!\.d)\.tsx?$/.exec(path)?.[1]).filter((name) => name !== undefined));
  return files.filter((path) => sources.has(/^(.+?)\.(?:d\.ts|js|js\.map)$/.exec(path)?.[1] ?? ""));
};

it("no compiled file stands beside its source", () => {
  expect(compiledBeside(repositoryFiles())).toEqual([]);
});

it("such a file is found", () => {
  const files = ["a/one.ts", "a/one.js", "a/one.js.map", "a/one.d.ts", "a/two.tsx", "a/two.js", "a/three.d.ts", "a/four.js", "b/one.js"];
  expect(compiledBeside(files)).toEqual(["a/one.js", "a/one.js.map", "a/one.d.ts", "a/two.js"]);
});
