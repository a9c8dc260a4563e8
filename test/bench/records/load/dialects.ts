import { brandId } from "../dataset.ts";
import { PAGE_LIMIT } from "../settings.ts";
import type { VariantName } from "./start-load.ts";

export interface PageRequest {
  readonly brand: number;
  readonly cursor: string | undefined;
}

/** How to request a page, and where the response contains it. */
interface Dialect {
  /** Returns the bytes of the HTTP request. */
  readonly request: (page: PageRequest, key: string) => string;
  /**
   * Returns the page in a response's body, as JSON text. Does not parse it: that would cost the generator more than sending.
   *
   * @throws Error without a page
   */
  readonly pageIn: (body: string) => string;
  /** Returns every copy of the page in the body, as JSON text. Slow: only for comparing responses. */
  readonly copiesIn: (body: string) => readonly string[];
}

type Dialects = Readonly<Record<VariantName, Dialect>>;

const TOOL = "list_conversions";
const STRUCTURED = '"structuredContent":';

/** 2026-07-28 repeats its metadata in every request, most of it in headers and body. */
const HEADERS = `MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: ${TOOL}\r\n`;
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Fields of a typical question, and those by which the load checks a page. */
const FIELDS = ["campaign_id", "external_id", "order_amount_centavos"];

/** POST /api/mcp, tools/call: the response contains the page as an object and again as text. */
function callTool({ namesBrand, fields }: { namesBrand: boolean; fields?: readonly string[] }): Dialect {
  let lastId = 0;
  return {
    request({ brand, cursor }, key) {
      lastId += 1;
      const params = { name: TOOL, arguments: { limit: PAGE_LIMIT, cursor, fields }, _meta: META };
      const body = JSON.stringify({ jsonrpc: "2.0", id: lastId, method: "tools/call", params });
      return (
        `POST /api/mcp${namesBrand ? `?brand_id=${brandId(brand)}` : ""} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n` +
        `Accept: application/json, text/event-stream\r\n${HEADERS}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      );
    },
    pageIn,
    copiesIn(body) {
      // Another page than the others'.
      if (fields !== undefined) return [];
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

/** The dialect of every variant. Variants without API keys need the brand in the request. */
export const DIALECTS: Dialects = {
  single: getPage({ namesBrand: true }),
  bare: getPage({ namesBrand: true }),
  product: getPage({ namesBrand: false }),
  tool: callTool({ namesBrand: false }),
  fields: callTool({ namesBrand: false, fields: FIELDS }),
  sdk: callTool({ namesBrand: true }),
  untraced: getPage({ namesBrand: false }),
  traced_1: getPage({ namesBrand: false }),
  traced_100: getPage({ namesBrand: false }),
  this: getPage({ namesBrand: false }),
  other: getPage({ namesBrand: false }),
};

/** GET /api/v1/conversions: the response is the page. */
function getPage({ namesBrand }: { namesBrand: boolean }): Dialect {
  return {
    request({ brand, cursor }, key) {
      const brandQuery = namesBrand ? `brand_id=${brandId(brand)}&` : "";
      const path = `/api/v1/conversions?${brandQuery}limit=${PAGE_LIMIT}${cursor === undefined ? "" : `&cursor=${cursor}`}`;
      return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nAccept: application/json\r\n\r\n`;
    },
    pageIn: (body) => body,
    copiesIn: (body) => [body],
  };
}
