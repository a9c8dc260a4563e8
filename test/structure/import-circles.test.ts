import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { repositoryFiles } from "../docs/pages.ts";
import { findImports } from "./find-imports.ts";

/** One promise: no file imports itself by way of others, types included, so that each can be read and moved with what it needs alone. */

type Graph = ReadonlyMap<string, readonly string[]>;

const sources = new Set(repositoryFiles().filter((path) => /\.(?:ts|tsx|js)$/.test(path) && !path.startsWith("proto/gen/")));

/** The file that stands for a workspace, by the name of its package. */
const entries = new Map(
  repositoryFiles()
    .filter((path) => path.endsWith("/package.json"))
    .map((path) => [(JSON.parse(readFileSync(path, "utf8")) as { name: string }).name, join(dirname(path), "src/index.ts")] as const)
    .filter(([, entry]) => existsSync(entry)),
);

function importsOf(file: string): string[] {
  const targets = findImports(readFileSync(file, "utf8")).map((specifier) =>
    specifier.startsWith(".") ? join(dirname(file), specifier) : entries.get(specifier),
  );
  return targets.filter((target) => target !== undefined && sources.has(target)) as string[];
}

/** Returns a path from a file back to itself, or undefined. */
function circleFrom(start: string, graph: Graph): string[] | undefined {
  const seen = new Set<string>();
  const follow = (path: readonly string[]): string[] | undefined => {
    for (const next of graph.get(path.at(-1) ?? "") ?? []) {
      if (next === start) return [...path, next];
      if (seen.has(next)) continue;
      seen.add(next);
      const found = follow([...path, next]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return follow([start]);
}

/** Returns each circle once, from its first file on. */
function findCircles(graph: Graph): string[] {
  const found = [...graph.keys()].flatMap((file) => {
    const circle = circleFrom(file, graph);
    return circle === undefined || circle.some((other) => other < file) ? [] : [circle.join(" → ")];
  });
  return found;
}

it("finds a circle among files that are not on it", () => {
  const graph = new Map([
    ["a", ["b"]],
    ["b", ["c", "d"]],
    ["c", []],
    ["d", ["e"]],
    ["e", ["b"]],
  ]);
  expect(findCircles(graph)).toEqual(["b → d → e → b"]);
});

it("no file imports itself by way of others", () => {
  expect(sources.size).toBeGreaterThan(1_000);
  const graph = new Map([...sources].map((file) => [file, importsOf(file)]));
  expect([...graph.values()].flat().length).toBeGreaterThan(3_000);
  expect(findCircles(graph)).toEqual([]);
});
