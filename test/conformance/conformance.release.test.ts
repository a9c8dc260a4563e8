import { startStack, type Stack } from "../stack.ts";
import { startForwardingProxy, type ForwardingProxy } from "../forwarding-proxy.ts";
import { entriesOf, runConformance } from "./run-conformance.ts";

/** One promise: the protocol's conformance suite fails only what a server without prompts, resources and streams cannot do. */

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

it.each(["2025-11-25", "2026-07-28"])("the requirements of %s fail exactly as its baseline says", async (version) => {
  const baseline = `test/conformance/baseline-${version}.yml`;
  const { excused, ...verdict } = await runConformance(url, ["--requirements", version, "--expected-failures", baseline]);
  expect(verdict).toEqual(clean);
  expect(excused.toSorted()).toEqual((await entriesOf(baseline)).toSorted());
});

// The requirements include this scenario but do not count it, because the suite's own server fails it.
it("passes the check of the 2026-07-28 headers against the body", async () => {
  const scenario = ["--scenario", "http-header-validation", "--spec-version", "2026-07-28"];
  expect(await runConformance(url, scenario)).toEqual({ ...clean, excused: [] });
});
