import { brandId } from "../dataset.ts";
import { PAGE_LIMIT } from "../settings.ts";
import type { Dialect } from "./dialect.ts";

/** GET /api/v1/conversions: the response is the page. */
export function getPage({ namesBrand }: { namesBrand: boolean }): Dialect {
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
