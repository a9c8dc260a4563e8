import { readFileSync } from "node:fs";
import type { MethodFacts } from "@brand-records/proto/methods";
import { OWN_METHODS } from "@brand-records/rpc";

/** One promise: the table of methods in docs/security.md is what their proto says. */

const ACTS_FOR = { caller: "", bearer: "", person: "a person", member: "a member", owner: "an owner" };

/** What a call of the console shows for it. The operator shows its certificate alone. */
function proofOf({ actor }: MethodFacts): string {
  if (actor === "caller") return "";
  if (actor === "bearer") return "its content";
  return "session";
}

/** Returns the cells before the methods. */
const factsOf = (facts: MethodFacts): string[] => [
  facts.callers.join(", ") || "operator",
  ACTS_FOR[facts.actor],
  proofOf(facts),
  facts.isIdempotent ? "yes" : "",
];

/** A method as the table has it: with the actions of the audit entries that it writes. */
const withActions = (method: string, { entry }: MethodFacts): string =>
  entry === undefined ? method : `${method} ${[entry.action, ...(entry.ofSelf === undefined ? [] : [entry.ofSelf])].join(" ")}`;

const cellsOf = (row: string): string[] =>
  row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());

it("docs/security.md has every method once, with its callers, whom it acts for, by what proof, whether it is repeated, and what it records", () => {
  const rows = readFileSync("docs/security.md", "utf8")
    .split("\n")
    .filter((line) => /\| `[\w.]+\/\w+`/.test(line))
    .map(cellsOf);
  const listed = rows.flatMap((cells) =>
    [...(cells[4] ?? "").matchAll(/`([\w.]+\/\w+)`(?: \(([^)]+)\))?/g)].map(([, method, actions]) => {
      const names = [...(actions ?? "").matchAll(/`([\w.]+)`/g)].map(([, action]) => action);
      return [[method, ...names].join(" "), ...cells.slice(0, 4)].join(" | ");
    }),
  );
  const expected = Object.entries(OWN_METHODS).map(([path, facts]) => [withActions(path.slice(1), facts), ...factsOf(facts)].join(" | "));
  // Health/List says nothing of itself, and is the operator's.
  expect(listed.filter((line) => !line.startsWith("grpc.health.v1.Health/List ")).toSorted()).toEqual(expected.toSorted());
});
