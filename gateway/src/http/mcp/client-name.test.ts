import { clientNameOf } from "./client-name.ts";
import { messageFrom } from "./json-rpc.ts";

const nameOf = (method: string, params: object, userAgent?: string): string =>
  clientNameOf(messageFrom({ jsonrpc: "2.0", id: 1, method, params }), { ...(userAgent !== undefined && { "user-agent": userAgent }) });
const initialize = (name: unknown, userAgent?: string): string => nameOf("initialize", { clientInfo: { name, version: "1" } }, userAgent);
const stateless = (name: unknown, userAgent?: string): string =>
  nameOf("tools/call", { _meta: { "io.modelcontextprotocol/clientInfo": { name, version: "1" } } }, userAgent);

it("is the name that initialize declares, or the stateless generation with every request", () => {
  expect(initialize("claude-code", "node")).toBe("claude-code");
  expect(stateless("claude-code", "node")).toBe("claude-code");
});

it.each([
  ["claude-code/2.1.0 (cli)", "claude-code"],
  ["python-httpx2/1.0", "python-httpx2"],
  ["node", "node"],
  ["Mozilla/5.0 (X11; Linux)", "Mozilla"],
])("is the product of User-Agent where a message declares none: %s", (userAgent, name) => {
  expect(nameOf("tools/call", {}, userAgent)).toBe(name);
  expect(initialize(7, userAgent)).toBe(name);
  expect(stateless("", userAgent)).toBe(name);
  expect(clientNameOf(messageFrom({ jsonrpc: "2.0", method: "notifications/initialized" }), { "user-agent": userAgent })).toBe(name);
});

const SECRET = `brk_live_${"a1".repeat(16)}`;
it.each([undefined, "", "(unknown)", "/1.0", SECRET, `${SECRET}/1.0`])("is unnamed without either: %p", (userAgent) => {
  expect(initialize(SECRET, userAgent)).toBe("unnamed");
  expect(nameOf("ping", {}, userAgent)).toBe("unnamed");
});

it.each([
  ["controls become blanks", "a\u0000b\n\tc", "a b c"],
  ["invisible characters go", "a\u200bb\u202e\u{e0041}", "ab"],
  ["blanks around it go", "  a  ", "a"],
  ["half an emoji is replaced", "a\ud83d", "a\ufffd"],
  ["64 characters are kept", "😀".repeat(65), "😀".repeat(64)],
  ["a long one is cut before it is read", " ".repeat(700_000), "node"],
])("is clean: %s", (_, name, clean) => {
  expect(initialize(name, "node")).toBe(clean);
});

it("is not taken from params of another form", () => {
  for (const params of [
    { clientInfo: "x" },
    { clientInfo: null },
    { _meta: [] },
    { _meta: { "io.modelcontextprotocol/clientInfo": "x" } },
  ]) {
    expect([nameOf("initialize", params, "node"), nameOf("tools/list", params, "node")]).toEqual(["node", "node"]);
  }
});
