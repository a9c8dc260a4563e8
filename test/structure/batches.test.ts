import { readFileSync } from "node:fs";
import { repositoryFiles } from "../docs/pages.ts";

/** One promise: the arrays of a batch are matched with its columns by name. A swapped pair of positions would compile. */

const UNNESTS = /unnest\(\s*\$\d/i;

it("every batch is built by unnestRows", () => {
  const files = repositoryFiles().filter(
    (path) => path.endsWith(".ts") && !path.startsWith("packages/postgres/") && path !== "test/structure/batches.test.ts",
  );
  const found = files.filter((path) => UNNESTS.test(readFileSync(path, "utf8")));
  expect(found).toEqual([]);
});
