import { jsonOf } from "../exchange.ts";
import type { Send } from "../recording.ts";
import { OTHER, type RecordedSystem } from "../system.ts";

const LISTS = ["campaigns", "submissions", "payouts", "deposits", "conversions", "links"];
const PLAN = {
  request_id: "0b9e2a63-3c0e-4b5c-8f52-6d2a1c7f4711",
  title: "Tag-ulan skincare clips",
  goal: "500,000 views before Christmas",
  campaign_type: "blitz",
  planned_for: "2099-12-01",
  review_on: "2099-12-15",
  planning_budget: 75_000.5,
};

/** Lists, their parameters and errors, plans, and what the edge refuses. */
export async function sendRest(send: Send, { reporting, planner, limited, otherKey }: RecordedSystem): Promise<void> {
  const key = { Authorization: `Bearer ${reporting}` };
  await sendLists(send, key, otherKey);
  await sendParameters(send, key);
  await sendKeys(send, reporting);
  await sendPlans(send, { Authorization: `Bearer ${planner}` }, key);
  await sendPublicPages(send);
  await sendFraming(send, reporting);
  for (const turn of ["first", "second", "third"]) {
    await send(`the ${turn} request of a key with two a minute`, {
      path: "/api/v1/links?limit=1",
      headers: { Authorization: `Bearer ${limited}` },
    });
  }
}

async function sendLists(send: Send, headers: Record<string, string>, otherKey: string): Promise<void> {
  for (const list of LISTS) await send(`two ${list}`, { path: `/api/v1/${list}?limit=2`, headers });
  const path = "/api/v1/campaigns";
  const { next_cursor: cursor } = jsonOf(await send("campaigns", { path: `${path}?limit=2`, headers })) as { next_cursor: string };
  const next = `limit=2&cursor=${cursor}`;
  await send("the next campaigns", { path: `${path}?${next}`, headers });
  await send("the cursor with another list", { path: `/api/v1/links?${next}`, headers });
  await send("the cursor with another brand", { path: `${path}?${next}`, headers: { Authorization: `Bearer ${otherKey}` } });
  await send("campaigns since a time", { path: `${path}?limit=1&since=2026-11-01T00:00:00Z`, headers });
  await send("HEAD of a list", { method: "HEAD", path: `${path}?limit=2`, headers });
  await send("everything on one page", { path: "/api/v1/deposits?limit=200", headers });
}

async function sendParameters(send: Send, headers: Record<string, string>): Promise<void> {
  const queries = [
    "limit=0",
    "limit=201",
    "limit=1.5",
    "limit=%31",
    "limit=",
    "limit=1&limit=2",
    "cursor=",
    "cursor=x",
    "since=yesterday",
    "since=2026-11-01",
    "since=2026-11-01T00:00:00%2B08:00",
    "unknown=1",
    "limit=%zz",
    "brand_id=brd_1",
    "LIMIT=1",
    "limit=1&",
    "&",
    "limit=2&since=2099-01-01T00:00:00Z",
  ];
  for (const query of queries) await send(`campaigns?${query}`, { path: `/api/v1/campaigns?${query}`, headers });
  await send("a request id of the caller", { path: "/api/v1/links?limit=1", headers: { ...headers, "X-Request-Id": "order-sync-4711" } });
  await send("a request id that is no id", { path: "/api/v1/links?limit=1", headers: { ...headers, "X-Request-Id": "a b\tc" } });
  await send("compressed", { method: "HEAD", path: "/api/v1/links?limit=5", headers: { ...headers, "Accept-Encoding": "gzip, br" } });
  await send("a web page's origin", { path: "/api/v1/links?limit=1", headers: { ...headers, Origin: "https://page.example" } });
}

async function sendKeys(send: Send, reporting: string): Promise<void> {
  const path = "/api/v1/links?limit=1";
  const unknown = `${reporting.slice(0, -1)}${reporting.endsWith("0") ? "1" : "0"}`;
  const values = {
    none: undefined,
    empty: "",
    basic: "Basic YTpi",
    "without a key": "Bearer",
    "no key": "Bearer abc",
    "an unknown key": `Bearer ${unknown}`,
    "a test key": `Bearer ${reporting.replace("live", "test")}`,
    "two keys": `Bearer ${reporting} ${reporting}`,
    "lower case": `bearer ${reporting}`,
  };
  for (const [name, value] of Object.entries(values)) {
    await send(`authorization: ${name}`, { path, ...(value !== undefined && { headers: { Authorization: value } }) });
  }
  await send("a key in the query", { path: `${path}&api_key=${reporting}` });
}

async function sendPlans(send: Send, headers: Record<string, string>, reporting: Record<string, string>): Promise<void> {
  const path = "/api/v1/campaign-plans";
  const post = (name: string, body: string | object, more = {}): Promise<string> =>
    send(name, { method: "POST", path, headers: { ...headers, ...more }, body });
  await post("a plan", PLAN);
  await post("the same plan again", PLAN);
  await post("another plan with its request_id", { ...PLAN, title: "Another" });
  await post("a plan without anything", {});
  await post("a plan with every mistake", {
    ...PLAN,
    request_id: "",
    title: "x".repeat(300),
    campaign_type: "none",
    planned_for: "tomorrow",
    planning_budget: -1,
    unknown: true,
  });
  await post("a plan in the past", {
    ...PLAN,
    request_id: "0b9e2a63-3c0e-4b5c-8f52-6d2a1c7f4712",
    planned_for: "2020-01-01",
    review_on: "2020-01-01",
  });
  await post("a plan that is a list", [PLAN]);
  await post("a plan that is no JSON", "{", { "Content-Type": "application/json" });
  await post("a plan that is a form", "title=x", { "Content-Type": "application/x-www-form-urlencoded" });
  await post("a plan in another character set", JSON.stringify(PLAN), { "Content-Type": "application/json; charset=utf-16" });
  await post("a compressed plan", "x", { "Content-Type": "application/json", "Content-Encoding": "gzip" });
  await post("no body", "", { "Content-Type": "application/json" });
  await post("a plan that is too large", { ...PLAN, brief: "x".repeat(800_000) });
  await send("a plan by a reporting key", { method: "POST", path, headers: reporting, body: PLAN });
  await send("GET of plans", { path, headers });
  await send("a plan of another brand", {
    method: "POST",
    path,
    headers,
    body: { ...PLAN, request_id: "0b9e2a63-3c0e-4b5c-8f52-6d2a1c7f4713", brand_id: OTHER.id },
  });
}

async function sendPublicPages(send: Send): Promise<void> {
  for (const path of [
    "/docs",
    "/openapi/service.yaml",
    "/openapi/service.json",
    "/openapi/other.yaml",
    "/healthz",
    "/readyz",
    "/metrics",
    "/favicon.ico",
    "/robots.txt",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-authorization-server",
    "/api",
    "/api/",
    "/api/v1",
    "/api/v1/nothing",
    "/api/v2/campaigns",
    "/api/v1/campaigns/cmp_1",
    "/API/V1/campaigns",
    "/api/v1/campaigns/",
    "//api/v1/campaigns",
    "/nope",
    "/%",
    "/console",
    "/console/nothing",
  ]) {
    await send(path, { path });
  }
  for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"]) {
    await send(`${method} of a list`, { method, path: "/api/v1/campaigns" });
    await send(`${method} of the description`, { method, path: "/openapi/service.yaml" });
  }
  await send("HEAD of the description", { method: "HEAD", path: "/openapi/service.yaml" });
}

/** What no HTTP client sends. */
async function sendFraming(send: Send, key: string): Promise<void> {
  const list = `GET /api/v1/links?limit=1 HTTP/1.1\r\nAuthorization: Bearer ${key}\r\n`;
  const raws = {
    "no Host": `${list}Connection: close\r\n\r\n`,
    "two Hosts": `${list}Host: HOST\r\nHost: other\r\nConnection: close\r\n\r\n`,
    "HTTP/1.0": `${list.replace("HTTP/1.1", "HTTP/1.0")}\r\n`,
    "no HTTP": "hello\r\n\r\n",
    "a body on GET": `${list}Host: HOST\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello`,
    "chunked on GET": `${list}Host: HOST\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    "two lengths": `${list}Host: HOST\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
    "length and chunked": `${list}Host: HOST\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    "an upgrade": `${list}Host: HOST\r\nConnection: close, upgrade\r\nUpgrade: websocket\r\n\r\n`,
    "an expectation": `${list}Host: HOST\r\nConnection: close\r\nExpect: 200-ok\r\n\r\n`,
    "headers of 40 KiB": `${list}Host: HOST\r\nX-Large: ${"x".repeat(40_000)}\r\n\r\n`,
    CONNECT: "CONNECT example.com:443 HTTP/1.1\r\nHost: HOST\r\n\r\n",
    "an absolute URL": `GET http://HOST/api/v1/links?limit=1 HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n`,
    "a body for the console on GET": `GET /sign-in HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5\r\n\r\nhello`,
    "a trailer for the console": `POST /console/api/sign_in.options HTTP/1.1\r\nHost: HOST\r\nTrailer: a\r\nContent-Length: 2\r\n\r\n{}`,
  };
  for (const [name, raw] of Object.entries(raws)) await send(name, { path: "", raw });
}
