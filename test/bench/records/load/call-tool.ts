import { brandId } from "../dataset.ts";
import { PAGE_LIMIT } from "../settings.ts";
import type { Dialect } from "./dialect.ts";

const TOOL = "list_conversions";
const STRUCTURED = '"structuredContent":';

/** What a call contains besides the tool and its arguments. */
interface Generation {
  readonly headers: string;
  readonly meta: object | undefined;
}

/** 2026-07-28 repeats its metadata in every request, most of it in headers and body: it needs more checks. */
export const STATELESS: Generation = {
  headers: `MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: ${TOOL}\r\n`,
  meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  },
};

/** 2025-11-25, as sent after `initialize`. Without sessions no call depends on an earlier one. */
export const LEGACY: Generation = { headers: "MCP-Protocol-Version: 2025-11-25\r\n", meta: undefined };

/** POST /api/mcp, tools/call: the response contains the page as an object and again as text. */
export function callTool({ headers, meta, namesBrand }: Generation & { namesBrand: boolean }): Dialect {
  let lastId = 0;
  return {
    request({ brand, cursor }, key) {
      lastId += 1;
      const params = { name: TOOL, arguments: { limit: PAGE_LIMIT, cursor }, _meta: meta };
      const body = JSON.stringify({ jsonrpc: "2.0", id: lastId, method: "tools/call", params });
      return (
        `POST /api/mcp${namesBrand ? `?brand_id=${brandId(brand)}` : ""} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n` +
        `Accept: application/json, text/event-stream\r\n${headers}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      );
    },
    pageIn,
    copiesIn(body) {
      const { result } = JSON.parse(body) as ToolResponse;
      return [pageIn(body), JSON.stringify(result.structuredContent), ...result.content.map(({ text }) => text)];
    },
  };
}

interface ToolResponse {
  readonly result: { readonly structuredContent: object; readonly content: readonly { readonly text: string }[] };
}

function pageIn(body: string): string {
  const found = body.indexOf(STRUCTURED);
  const start = found + STRUCTURED.length;
  // No conversion contains a bracket, so the first one ends the list.
  const page = body.slice(start, body.indexOf("}", body.indexOf("]", start)) + 1);
  if (found === -1 || body.length < 2 * page.length) throw new Error(`no two copies of the page in ${body.slice(0, 300)}`);
  return page;
}
