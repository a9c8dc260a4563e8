import { UsageServiceService } from "@brand-records/proto/accounts/v1";
import { connectRpc, type RpcClient } from "@brand-records/rpc";
import { eventually } from "@brand-records/testkit";
import { request } from "../mcp.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: a brand's usage has every request that the rate limit decided on, of all gateways, by key. */

let stack: Stack;
let usage: RpcClient<UsageServiceService>;
beforeAll(async () => {
  stack = await startStack({ gateways: 2, env: { USAGE_FLUSH_SECONDS: "1" } });
  usage = connectRpc(UsageServiceService, stack.addresses.accounts);
});
afterAll(async () => {
  usage.stop();
  await stack.stop();
});

const HOUR_MS = 3_600_000;
const totalsOf = async ({ id, keyId }: TestBrand): Promise<{ accepted: number; refused: number }> => {
  const range = { from: new Date(Date.now() - HOUR_MS).toISOString(), to: new Date(Date.now() + HOUR_MS).toISOString() };
  const { buckets } = await usage.getUsage(
    { brand_id: id, ...range, bucket_minutes: 1_440, by_key: true, by_client: false },
    callContext(),
  );
  const ofKey = buckets.filter(({ key_id }) => key_id === keyId);
  return {
    accepted: ofKey.reduce((sum, { accepted }) => sum + accepted, 0),
    refused: ofKey.reduce((sum, { refused }) => sum + refused, 0),
  };
};

const clientsOf = async ({ id }: TestBrand) => {
  const range = { from: new Date(Date.now() - HOUR_MS).toISOString(), to: new Date(Date.now() + HOUR_MS).toISOString() };
  return (await usage.getUsage({ brand_id: id, ...range, bucket_minutes: 60, by_key: false, by_client: true }, callContext())).clients;
};

it("counts accepted and refused requests of two gateways, on every path, but none without a valid key", async () => {
  const [brand, other] = [await stack.createBrand(), await stack.createBrand()];
  const path = (i: number): string => (i % 3 === 0 ? "/api/v1/nothing" : "/api/v1/links");
  const statuses = await Promise.all(Array.from({ length: 130 }, (_, i) => stack.get(path(i), brand.key, i % 2)));
  await stack.get("/api/v1/links", "brk_live_invalid");
  await stack.get("/docs", brand.key);
  // Each gateway without Redis has its own window of 60.
  const refused = statuses.filter(({ status }) => status === 429).length;
  expect(refused).toBe(10);
  await eventually(async () => expect(await totalsOf(brand)).toEqual({ accepted: 120, refused: 10 }));
  expect(await totalsOf(other)).toEqual({ accepted: 0, refused: 0 });
});

it("counts what was refused of both gateways by key, route, code and field, and keeps nothing that a caller wrote", async () => {
  const brand = await stack.createBrand();
  const id = (n: number): string => `request-${n}`;
  const get = (path: string, n: number, key = brand.key) =>
    fetch(`${stack.gateways[n % 2]?.url}${path}`, { headers: { Authorization: `Bearer ${key}`, "X-Request-Id": id(n) } });
  await get("/api/v1/links?limit=0", 1);
  await get("/api/v1/links?limit=ana@brand.example", 2);
  await get("/api/v1/links?ana=ana@brand.example", 3);
  await get("/api/v1/ana", 4);
  await get("/api/v1/links?limit=0", 5, "brk_live_invalid");
  await get("/api/v1/links?limit=1", 6);
  const call = request("stateless", "tools/call", { name: "list_links", arguments: { limit: "ana" } });
  const headers = { ...call.headers, Authorization: `Bearer ${brand.key}`, "X-Request-Id": id(7), "Content-Type": "application/json" };
  await fetch(`${stack.gateways[0].url}/api/mcp`, { method: "POST", headers, body: JSON.stringify(call.body) });
  const range = { from: new Date(Date.now() - HOUR_MS).toISOString(), to: new Date(Date.now() + HOUR_MS).toISOString() };
  await eventually(async () => {
    const { groups, buckets } = await usage.listFailedRequests({ brand_id: brand.id, ...range, bucket_minutes: 1_440 }, callContext());
    expect(buckets.reduce((sum, { requests }) => sum + requests, 0)).toBe(5);
    const found = groups.map(({ key_id, route, code, field, request_ids }) => [key_id, route, code, field, request_ids.toSorted()]);
    expect(found.toSorted((one, other) => (String(one) < String(other) ? -1 : 1))).toEqual([
      [brand.keyId, "GET /api/*", "unknown_resource", "", [id(4)]],
      [brand.keyId, "GET /api/v1/links", "invalid_parameter", "*", [id(3)]],
      [brand.keyId, "GET /api/v1/links", "invalid_parameter", "limit", [id(1), id(2)]],
      [brand.keyId, "POST /api/mcp tools/call list_links", "invalid_parameter", "limit", [id(7)]],
    ]);
    expect(JSON.stringify(groups)).not.toContain("ana");
  });
});

it("lists the last requests of both gateways, those that succeed too, and keeps nothing that a caller wrote", async () => {
  const brand = await stack.createBrand();
  const id = (n: number): string => `recent-${n}`;
  const get = (path: string, n: number, key = brand.key) =>
    fetch(`${stack.gateways[n % 2]?.url}${path}`, {
      headers: { Authorization: `Bearer ${key}`, "X-Request-Id": id(n), "User-Agent": "ledger-sync/2.1 (ana)" },
    });
  await get("/api/v1/links?limit=7", 1);
  await get("/api/v1/links?limit=ana@brand.example", 2);
  await get("/api/v1/ana", 3);
  await get("/api/v1/links", 4, "brk_live_invalid");
  const call = request("stateless", "tools/call", { name: "list_links", arguments: { limit: "ana" } });
  const headers = { ...call.headers, Authorization: `Bearer ${brand.key}`, "X-Request-Id": id(5), "User-Agent": "" };
  const posted = { ...headers, "Content-Type": "application/json" };
  await fetch(`${stack.gateways[0].url}/api/mcp`, { method: "POST", headers: posted, body: JSON.stringify(call.body) });
  await eventually(async () => {
    const { requests } = await usage.listRequests({ brand_id: brand.id, page_size: 0 }, callContext());
    const found = requests.map(({ key_id, route, http_status, code, request_id, client }) => [
      request_id,
      key_id,
      route,
      http_status,
      code,
      client,
    ]);
    expect(found.toSorted((one, other) => (String(one) < String(other) ? -1 : 1))).toEqual([
      [id(1), brand.keyId, "GET /api/v1/links", 200, "", "ledger-sync"],
      [id(2), brand.keyId, "GET /api/v1/links", 400, "invalid_parameter", "ledger-sync"],
      [id(3), brand.keyId, "GET /api/*", 404, "unknown_resource", "ledger-sync"],
      [id(5), brand.keyId, "POST /api/mcp tools/call list_links", 200, "invalid_parameter", "unnamed"],
    ]);
    for (const { at, duration_ms } of requests) {
      expect(duration_ms).toBeGreaterThan(0);
      expect(Math.abs(Date.now() - Date.parse(at))).toBeLessThan(60_000);
    }
  });
});

it("counts messages of assistants of both gateways by the name that the client declares, and those apart that call no tool", async () => {
  const brand = await stack.createBrand();
  const send = (body: object, headers: Record<string, string>, gateway = 0) =>
    fetch(`${stack.gateways[gateway]?.url}/api/mcp`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${brand.key}`,
        "Content-Type": "application/json",
        "User-Agent": "claude-code/2.1 (cli)",
        ...headers,
      },
      body: JSON.stringify(body),
    });
  const clientInfo = { name: "claude-code", version: "2.1" };
  await send({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } }, {});
  await send({ jsonrpc: "2.0", method: "notifications/initialized" }, {}, 1);
  const cursor = { "io.modelcontextprotocol/clientInfo": { name: "Cursor\u200b", version: "3" } };
  const discover = request("stateless", "server/discover", { _meta: cursor });
  await send(discover.body, discover.headers);
  const call = request("stateless", "tools/call", { name: "list_links", arguments: { limit: 1 }, _meta: cursor });
  for (const gateway of [0, 1]) await send(call.body, call.headers, gateway);
  await send({ jsonrpc: "2.0", id: 1, method: "ping" }, { "User-Agent": "" });
  // Refused unread.
  await send([], { "User-Agent": "" });
  await stack.get("/api/v1/links", brand.key);
  await eventually(async () =>
    expect(await clientsOf(brand)).toEqual([
      { key_id: brand.keyId, name: "Cursor", messages: 3, connecting: 1 },
      { key_id: brand.keyId, name: "claude-code", messages: 2, connecting: 2 },
      { key_id: brand.keyId, name: "unnamed", messages: 2, connecting: 2 },
    ]),
  );
});

it("loses nothing while accounts is away, and counts nothing twice", async () => {
  const brand = await stack.createBrand();
  let accepted = 0;
  const isInterrupted = async (): Promise<boolean> => {
    const { status } = await stack.get("/api/v1/links", brand.key);
    if (status === 200) accepted += 1;
    await stack.processes.accounts.kill("SIGKILL");
    const isNoticed = (): void => expect(stack.gateways[0].process.output()).toContain("usage cannot be recorded");
    return eventually(isNoticed, { timeoutMs: 3_000 }).then(
      () => true,
      () => false,
    );
  };
  // The gateway records once a second: what it has counted may be recorded between the request and the kill.
  while (!(await isInterrupted())) await stack.restart("accounts");
  await stack.restart("accounts");
  await eventually(async () => expect(await totalsOf(brand)).toEqual({ accepted, refused: 0 }), { timeoutMs: 20_000 });
});

it("records what a gateway has counted when it stops", async () => {
  const brand = await stack.createBrand();
  // It may still be reconnecting to accounts, without which it counts nothing.
  await eventually(async () => expect((await stack.get("/api/v1/links", brand.key, 1)).status).toBe(200));
  await stack.gateways[1]?.process.kill();
  expect(await totalsOf(brand)).toEqual({ accepted: 1, refused: 0 });
});
