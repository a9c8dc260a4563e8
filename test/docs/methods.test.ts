import { readFileSync } from "node:fs";
import { OWN_METHODS } from "@brand-records/rpc";

/** One promise: the table of methods in docs/security.md is what their proto says. */

const ACTS_FOR = { caller: "", member: "a member", owner: "an owner" };

const cellsOf = (row: string): string[] =>
  row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());

it("docs/security.md has every method, with its callers, whom it acts for, and whether it is repeated", () => {
  const rows = readFileSync("docs/security.md", "utf8")
    .split("\n")
    .filter((line) => /^\| `[\w.]+\/\w+` /.test(line))
    .map(cellsOf);
  const expected = Object.entries(OWN_METHODS).map(([path, { callers, actor, isIdempotent }]) => [
    `\`${path.slice(1)}\``,
    [...callers, "operator"].join(", "),
    ACTS_FOR[actor],
    isIdempotent ? "yes" : "",
  ]);
  // Health/List says nothing of itself, and is the operator's.
  expect(rows.filter(([method]) => method !== "`grpc.health.v1.Health/List`")).toEqual(expected);
});
