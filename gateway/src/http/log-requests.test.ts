import { openLog, openMetrics } from "@brand-records/telemetry";
import { logRequests } from "./log-requests.ts";
import { routesThatCanFail } from "./app.ts";

/** One promise: the first failure of a route is seen by the alerts, because its count begins at 0. */

async function failuresAtStart(hasConsole: boolean): Promise<Map<string, string[]>> {
  const metrics = openMetrics("gateway");
  logRequests({ log: openLog("gateway", "silent"), metrics, usage: { countFailure() {} }, routes: routesThatCanFail(hasConsole) });
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
