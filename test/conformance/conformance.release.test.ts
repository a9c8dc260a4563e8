import { startStack, type Stack } from "../stack.ts";
import { startForwardingProxy, type ForwardingProxy } from "../forwarding-proxy.ts";
import { entriesOf, runConformance } from "./run-conformance.ts";

/** One promise: the protocol's conformance suites fail only what a server without prompts, resources and streams cannot do. */

let stack: Stack;
/** Adds the key, which the suites cannot send. */
let proxy: ForwardingProxy;
let url: string;

beforeAll(async () => {
  // The suites send two origins: that of the URL, which must be allowed, and another.
  stack = await startStack({ env: { RATE_LIMIT_PLUS: "10000", ALLOWED_ORIGINS: "http://127.0.0.1:*" } });
  const { key } = await stack.createBrand();
  proxy = await startForwardingProxy(stack.url, { added: { Authorization: `Bearer ${key}` } });
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
])("%s %j fails exactly the entries of %s", async (suite, parameters, file) => {
  const baseline = `test/conformance/${file}`;
  const { excused, ...verdict } = await runConformance(suite, url, [...parameters, "--expected-failures", baseline]);
  expect(verdict).toEqual(clean);
  expect(excused.toSorted()).toEqual((await entriesOf(baseline)).toSorted());
});

// The requirements include this scenario but do not count it, because the suite's own server fails it.
it("conformance-0.2 passes the check of the 2026-07-28 headers against the body", async () => {
  const scenario = ["--scenario", "http-header-validation", "--spec-version", "2026-07-28"];
  expect(await runConformance("conformance-0.2", url, scenario)).toEqual({ ...clean, excused: [] });
});
