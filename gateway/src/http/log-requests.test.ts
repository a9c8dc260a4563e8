import { openLog, openMetrics } from "@brand-records/telemetry";
import { routesThatCanFail } from "./app.ts";
import { keyedRequestOf, logRequests } from "./log-requests.ts";
import type { RequestContext } from "./request-context.ts";

/** One promise: the first failure of a route is seen by the alerts, because its count begins at 0. */

async function failuresAtStart(hasConsole: boolean): Promise<Map<string, string[]>> {
  const metrics = openMetrics("gateway");
  logRequests({ log: openLog("gateway", "silent"), metrics, usage: { countRequest() {} }, routes: routesThatCanFail(hasConsole) });
  const counts = [
    ...(await metrics.metrics()).matchAll(/^http_request_duration_seconds_count\{service="gateway",route="([^"]+)",status="(\d+)"\} 0$/gm),
  ];
  return new Map([...Map.groupBy(counts, ([, route = ""]) => route)].map(([route, of]) => [route, of.map(([, , status = ""]) => status)]));
}

it("counts 500, 503 and 504 of every route of the API from 0", async () => {
  const failures = await failuresAtStart(false);
  expect([...failures.keys()]).toEqual(expect.arrayContaining(["/api/v1/links", "/api/v1/campaign-plans", "/api/mcp", "/api/*"]));
  for (const [route, statuses] of failures) expect([route, statuses]).toEqual([route, ["500", "503", "504"]]);
});

it("shows the console's route only if there is a console: an alert tells by it whether one must run", async () => {
  expect((await failuresAtStart(true)).has("console")).toBe(true);
  expect((await failuresAtStart(false)).has("console")).toBe(false);
});

const given = (context: Partial<RequestContext>, method = "GET", status = 400) =>
  keyedRequestOf(
    { route: "/api/v1/payouts", requestId: "r1", brandId: "brd_1", keyId: "key_1", ...context } as RequestContext,
    method,
    status,
    0.0121,
  );
const LIST: Partial<RequestContext> = { operation: { name: "list_payouts", via: "rest" }, errorKind: "invalid_parameter" };

it("names the route, the outcome, the client, and whose key it was", () => {
  expect(given({ ...LIST, errorField: "limit", userAgent: "ledger-sync/2.1 (node)" })).toEqual({
    brand_id: "brd_1",
    key_id: "key_1",
    route: "GET /api/v1/payouts",
    http_status: 400,
    code: "invalid_parameter",
    field: "limit",
    isFailure: true,
    duration_ms: 13,
    request_id: "r1",
    client: "ledger-sync",
  });
  const plan: Partial<RequestContext> = { operation: { name: "prepare_campaign_plan", via: "rest" }, errorKind: "invalid_request" };
  expect(given({ ...plan, errorField: "requirements[2]" })).toMatchObject({ field: "requirements" });
  const tool: Partial<RequestContext> = { route: "/api/mcp", rpc: { method: "tools/call", generation: "legacy", tool: "list_payouts" } };
  expect(given({ ...LIST, ...tool, errorField: "cursor" }, "POST", 200)).toMatchObject({
    route: "POST /api/mcp tools/call list_payouts",
    http_status: 200,
    field: "cursor",
    isFailure: true,
  });
  const initialize: Partial<RequestContext> = { route: "/api/mcp", rpc: { method: "initialize", generation: "legacy" } };
  expect(given(initialize, "POST", 200)).toMatchObject({ route: "POST /api/mcp initialize", code: "", field: "", isFailure: false });
});

it("keeps no name that only the caller knows", () => {
  for (const errorField of ["brk_live_x", "ana@brand.example", "", "limits", "Limit", "hasOwnProperty"])
    expect(given({ ...LIST, errorField })).toMatchObject({ field: "*" });
  expect(given({ errorKind: "not_found", errorField: "limit", route: "/api/*" })).toMatchObject({ field: "*", route: "GET /api/*" });
  expect(given({ ...LIST }, "M-SEARCH")).toMatchObject({ field: "", route: "OTHER /api/v1/payouts" });
});

it("is no failure that an assistant asks for a stream as it connects", () => {
  const stream: Partial<RequestContext> = { route: "/api/mcp", errorKind: "method_not_allowed" };
  expect(given(stream)).toMatchObject({ code: "method_not_allowed", isFailure: false });
  expect(given(stream, "PUT")).toMatchObject({ route: "PUT /api/mcp", code: "method_not_allowed", isFailure: true });
  expect(given({ ...stream, route: "/api/v1/payouts" }, "POST")).toMatchObject({ isFailure: true });
});

it("is nothing for a request without a valid key", () => {
  expect(keyedRequestOf({ ...LIST, route: "/api/*", requestId: "r1" } as RequestContext, "GET", 401, 0)).toBeUndefined();
});
