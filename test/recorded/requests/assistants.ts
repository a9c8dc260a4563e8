import type { Send } from "../recording.ts";
import type { RecordedSystem } from "../system.ts";
import { GENERATIONS, request, toolCall, type McpMessage } from "../../mcp.ts";

const LISTS = ["campaigns", "submissions", "payouts", "deposits", "conversions", "links"];
const PATH = "/api/mcp";

/** Both generations of the protocol: every method and tool, and messages that break it. */
export async function sendAssistants(send: Send, { reporting, planner }: RecordedSystem): Promise<void> {
  const post = (name: string, { headers, body }: McpMessage, key = reporting): Promise<string> =>
    send(name, { method: "POST", path: PATH, headers: { Authorization: `Bearer ${key}`, ...headers }, body });
  for (const generation of GENERATIONS) {
    for (const method of ["tools/list", "ping", "resources/list", "prompts/list", "server/discover", "logging/setLevel", "nothing"]) {
      await post(`${generation} ${method}`, request(generation, method));
    }
    for (const list of LISTS) await post(`${generation} list_${list}`, toolCall(generation, `list_${list}`, { limit: 1 }));
    await post(`${generation} with fields`, toolCall(generation, "list_payouts", { limit: 1, fields: ["status", "amount_centavos"] }));
    await post(`${generation} with unknown fields`, toolCall(generation, "list_payouts", { fields: ["amount"] }));
    await post(`${generation} without arguments`, toolCall(generation, "list_deposits"));
    await post(`${generation} a wrong argument`, toolCall(generation, "list_links", { limit: "many", nothing: 1 }));
    await post(`${generation} an unknown tool`, toolCall(generation, "delete_links", {}));
    await post(`${generation} a wrong cursor`, toolCall(generation, "list_links", { cursor: "x" }));
    await post(`${generation} a plan by a reporting key`, toolCall(generation, "prepare_campaign_plan", plan(generation)));
    await post(`${generation} a plan`, toolCall(generation, "prepare_campaign_plan", plan(generation)), planner);
    await post(`${generation} a plan with mistakes`, toolCall(generation, "prepare_campaign_plan", { title: 1 }), planner);
    await post(`${generation} tools/list of a planner`, request(generation, "tools/list"), planner);
  }
  for (const protocolVersion of ["2025-11-25", "2025-06-18", "2024-11-05", "1999-01-01"]) {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "recorded", version: "1" } };
    await post(`initialize ${protocolVersion}`, { headers: {}, body: { jsonrpc: "2.0", id: 1, method: "initialize", params } });
  }
  await sendBroken(send, { Authorization: `Bearer ${reporting}` });
}

const plan = (generation: string) => ({
  request_id: generation === "legacy" ? "0b9e2a63-3c0e-4b5c-8f52-6d2a1c7f4721" : "0b9e2a63-3c0e-4b5c-8f52-6d2a1c7f4722",
  title: "Payday push",
  goal: "300 orders on payday weekend",
  campaign_type: "affiliate",
  planned_for: "2099-12-01",
  review_on: "2099-12-15",
  planning_budget: 12_000,
});

async function sendBroken(send: Send, headers: Record<string, string>): Promise<void> {
  const bodies: Record<string, string | object> = {
    "no JSON": "{",
    "no message": "3",
    "an empty object": {},
    "a batch": [{ jsonrpc: "2.0", id: 1, method: "ping" }],
    "an empty batch": [],
    "another version": { jsonrpc: "1.0", id: 1, method: "ping" },
    "an id that is an object": { jsonrpc: "2.0", id: {}, method: "ping" },
    "a null id": { jsonrpc: "2.0", id: null, method: "ping" },
    "a text id": { jsonrpc: "2.0", id: "a", method: "ping" },
    "params that are a list": { jsonrpc: "2.0", id: 1, method: "tools/call", params: [1] },
    "a notification": { jsonrpc: "2.0", method: "notifications/initialized" },
    "a response": { jsonrpc: "2.0", id: 1, result: {} },
  };
  const json = { ...headers, "Content-Type": "application/json" };
  for (const [name, body] of Object.entries(bodies)) await send(name, { method: "POST", path: PATH, headers: json, body });
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  await send("without a key", { method: "POST", path: PATH, body: ping });
  await send("from a strange page", { method: "POST", path: PATH, headers: { ...headers, Origin: "https://page.example" }, body: ping });
  await send("as text", { method: "POST", path: PATH, headers: { ...headers, "Content-Type": "text/plain" }, body: "{}" });
  await send("accepting a stream only", { method: "POST", path: PATH, headers: { ...headers, Accept: "text/event-stream" }, body: ping });
  await send("a message that is too large", {
    method: "POST",
    path: PATH,
    headers,
    body: { ...ping, params: { text: "x".repeat(800_000) } },
  });
  await send("an unknown protocol version", {
    method: "POST",
    path: PATH,
    headers: { ...headers, "MCP-Protocol-Version": "1999-01-01" },
    body: ping,
  });
  for (const method of ["GET", "DELETE", "OPTIONS", "PUT"]) await send(`${method} of the endpoint`, { method, path: PATH, headers });
}
