import type { AppError } from "@brand-records/errors";
import { openMetrics } from "@brand-records/telemetry";
import { BodyBudget } from "./body-budget.ts";

const MIB = 1024 * 1024;

let budget: BodyBudget;
let evicted: [string, AppError["kind"]][];
beforeEach(() => {
  budget = new BodyBudget(openMetrics("gateway"));
  evicted = [];
});

const open = (kind: "brand" | "network", sender: string) => budget.open(kind, sender, (error) => evicted.push([sender, error.kind]));

it.each([
  ["brand", 8, "unavailable"],
  ["network", 2, "rate_limited"],
] as const)("refuses more than a %s may hold at a time, %d MiB, as %s", (kind, mib, refusal) => {
  open(kind, "a").add(mib * MIB);
  expect(() => open(kind, "a").add(1)).toThrow(expect.objectContaining({ kind: refusal, retryAfterSeconds: 1 }));
  open(kind, "b").add(1);
});

it("gives up the oldest of the visitors' bodies that have not arrived, for one that arrives", () => {
  const complete = open("network", "n0");
  complete.add(2 * MIB);
  complete.complete();
  for (let n = 1; n < 8; n += 1) open("network", `n${n}`).add(2 * MIB);
  open("network", "people").add(10_000);
  expect(evicted).toEqual([["n1", "unavailable"]]);
  open("network", "n1").add(2 * MIB - 10_000);
  expect(evicted).toHaveLength(1);
});

it("refuses a body when nothing can make room, and none of a brand's makes room for another", () => {
  for (let n = 0; n < 8; n += 1) {
    const body = open("network", `n${n}`);
    body.add(2 * MIB);
    body.complete();
  }
  expect(() => open("network", "people").add(1)).toThrow(expect.objectContaining({ kind: "unavailable" }));
  for (let n = 0; n < 8; n += 1) open("brand", `b${n}`).add(8 * MIB);
  expect(() => open("brand", "b8").add(1)).toThrow(expect.objectContaining({ kind: "unavailable" }));
  expect(evicted).toEqual([]);
});

it("frees what a body held, once", () => {
  const body = open("network", "a");
  body.add(2 * MIB);
  body.release();
  body.release();
  open("network", "a").add(2 * MIB);
  expect(() => open("network", "a").add(1)).toThrow(expect.objectContaining({ kind: "rate_limited" }));
});
