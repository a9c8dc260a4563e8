import { startStack, type Stack } from "../stack.ts";
import { startForwardingProxy, type ForwardingProxy } from "../forwarding-proxy.ts";
import { entriesOf, runConformance } from "./run-conformance.ts";

/** One promise: the protocol's own suites find nothing wrong but what a server without prompts, resources and streams cannot do. */

let stack: Stack;
/** The suites have no way to send a key. */
let proxy: ForwardingProxy;
let url: string;

beforeAll(async () => {
  // They present themselves as a web page of the address they were told, which is to be let in, and of another.
  stack = await startStack({ env: { RATE_LIMIT_PLUS: "10000", ALLOWED_ORIGINS: "http://127.0.0.1:*" } });
  const { key } = await stack.createBrand();
  proxy = await startForwardingProxy(stack.url, { Authorization: `Bearer ${key}` });
  url = `${proxy.url}/api/mcp`;
});
afterAll(async () => {
  await proxy.stop();
  await stack.stop();
});

const clean = { code: 0, unexpected: [], stale: [], stderr: "" };

it.each([
  ["conformance-0.1", ["--suite", "active"], "baseline-0.1-active.yml"],
  ["conformance-0.2", ["--requirements", "2025-11-25"], "baseline-0.2-2025-11-25.yml"],
  ["conformance-0.2", ["--requirements", "2026-07-28"], "baseline-0.2-2026-07-28.yml"],
])("%s %j: what fails is what %s gives a reason for, no more and no less", async (suite, parameters, file) => {
  const baseline = `test/conformance/${file}`;
  const { excused, ...verdict } = await runConformance(suite, url, [...parameters, "--expected-failures", baseline]);
  expect(verdict).toEqual(clean);
  expect(excused.toSorted()).toEqual((await entriesOf(baseline)).toSorted());
});

// Run with the requirements, but not counted there: the suite's own server cannot pass it yet.
it("conformance-0.2 finds the headers of 2026-07-28 held against the body as they must be", async () => {
  const scenario = ["--scenario", "http-header-validation", "--spec-version", "2026-07-28"];
  expect(await runConformance("conformance-0.2", url, scenario)).toEqual({ ...clean, excused: [] });
});
