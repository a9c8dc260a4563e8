import { readFileSync } from "node:fs";
import { repositoryFiles } from "../docs/pages.ts";

/** One promise: a handler runs no statement. Lint keeps storage/ and pg out of rpc/; the pool comes in with the dependencies. */

const RUNS_SQL = /\.(?:query|transaction)(?:<[^>]*>)?\(/;

it("no handler queries the database or begins a transaction", () => {
  const handlers = repositoryFiles().filter((path) => /^services\/\w+\/src\/rpc\/.+(?<!\.test)\.ts$/.test(path));
  expect(handlers.length).toBeGreaterThan(20);
  const found = handlers.filter((path) => RUNS_SQL.test(readFileSync(path, "utf8")));
  expect(found).toEqual([]);
});
