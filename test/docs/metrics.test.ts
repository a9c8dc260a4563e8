import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { listedMetrics } from "./metrics-page.ts";

/** One promise: docs/metrics.md lists every metric. test/e2e/metrics.full.test.ts compares types, labels and processes with real scrapes. */

/** A definition: its name and then its help. */
const DEFINITION = /name: "(\w+)",\s+help\b|counter\("(\w+)"/g;

function definedMetrics(): Set<string> {
  const sources = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts"], { encoding: "utf8" })
    .split("\n")
    .filter((path) => /\/src\//.test(path) && !path.endsWith(".test.ts"));
  const names = new Set<string>();
  for (const path of sources) {
    const text = readFileSync(path, "utf8");
    if (!/\b(Counter|Gauge|Histogram|showGauge|showSampled)\b/.test(text)) continue;
    for (const [, inObject, inCall = ""] of text.matchAll(DEFINITION)) names.add(inObject ?? inCall);
  }
  return names;
}

it("lists the metrics that the code defines, each once, and no other", () => {
  // Those of Node and of its process come from the library.
  const listed = listedMetrics()
    .map(({ name }) => name)
    .filter((name) => !/^(process|nodejs)_/.test(name));
  expect(listed.toSorted()).toEqual([...definedMetrics()].toSorted());
});
