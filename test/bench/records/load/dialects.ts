import { brandId } from "../dataset.ts";
import { PAGE_LIMIT } from "../settings.ts";
import { callTool, LEGACY, STATELESS } from "./call-tool.ts";
import type { Dialect, Dialects } from "./dialect.ts";

/** The dialect of every variant. Variants without API keys need the brand in the request. */
export const DIALECTS: Dialects = {
  single: getPage({ namesBrand: true }),
  bare: getPage({ namesBrand: true }),
  product: getPage({ namesBrand: false }),
  tool: callTool({ ...STATELESS, namesBrand: false }),
  sdk: callTool({ ...STATELESS, namesBrand: true }),
  legacy: callTool({ ...LEGACY, namesBrand: false }),
  endpoint: callTool({ ...STATELESS, namesBrand: true }),
  sdk_1: callTool({ ...LEGACY, namesBrand: true }),
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
