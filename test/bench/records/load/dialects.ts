import type { Dialects } from "./dialect.ts";
import { getPage } from "./get-page.ts";
import { callTool, LEGACY, STATELESS } from "./call-tool.ts";

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
};
