import { nodeProblem } from "./require-node.ts";

it.each(["18.20.8", "20.20.2", "22.18.0", "21.9.0"])("refuses Node %s", (version) => {
  expect(nodeProblem(version)).toBe(`This is Node ${version}: 22.19 or newer is needed. See https://nodejs.org`);
});

it.each(["22.19.0", "23.0.0", "24.21.0", "26.0.0-nightly2026"])("accepts Node %s", (version) => {
  expect(nodeProblem(version)).toBeUndefined();
});
