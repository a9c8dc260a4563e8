import { readFileSync, readdirSync } from "node:fs";
import { DRILLS } from "../faults/drills/drills.ts";

/** One promise: the table of faults in docs/operations.md claims no proof that no drill gives, and leaves out no drill. */

interface Row {
  readonly fault: string;
  readonly alerts: readonly string[];
  readonly isProven: boolean;
}

const page = readFileSync("docs/operations.md", "utf8");
const table = page.slice(page.indexOf("## What each fault does"));
const rows: readonly Row[] = table
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .slice(2)
  .map((line) => {
    const [, fault = "", , alerts = "", , , proof = ""] = line.split("|").map((cell) => cell.trim());
    return { fault, alerts: alerts.match(/\b(?:[A-Z][a-z]+){2,}\b/g) ?? [], isProven: proof === "drill" };
  });

it("marks exactly the faults that have a drill, with the alert that fires in it", () => {
  const proven = rows.filter(({ isProven }) => isProven).map(({ fault }) => fault);
  expect(proven.toSorted()).toEqual(DRILLS.map(({ fault }) => fault).toSorted());
  for (const { fault, alert } of DRILLS) expect(rows.find((row) => row.fault === fault)?.alerts).toContain(alert);
});

it("names alerts that have a runbook, in every row but that of a full disk of ours, which no process can measure", () => {
  const runbooks = new Set(readdirSync("docs/runbooks").map((name) => name.replace(".md", "")));
  expect(rows.flatMap(({ alerts }) => alerts).filter((alert) => !runbooks.has(alert))).toEqual([]);
  expect(rows.filter(({ alerts }) => alerts.length === 0).map(({ fault }) => fault)).toEqual(["a host's disk is full"]);
});
