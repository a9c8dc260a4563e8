import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { RecordsServiceService } from "@brand-records/proto/records/v1";
import { connectRpc, traceparentFrom } from "@brand-records/rpc";
import { ROOT } from "../../program.ts";

const DEADLINE_MS = 10_000;
const TOOL = "list_conversions";

export interface ToolArguments {
  readonly limit?: number;
  readonly cursor?: string;
  readonly since?: string;
}

/** As the product lists it: the schemas are JSON Schema. */
export interface Listing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema: Readonly<Record<string, unknown>>;
  readonly annotations: object;
}

/** Taken from the product's compiled code, so that the variants cannot drift apart. */
export async function productListing(): Promise<Listing> {
  const { TOOLBOX } = (await import(pathToFileURL(join(ROOT, "gateway/dist/http/mcp/toolbox.js")).href)) as {
    TOOLBOX: { listingFor(permissions: readonly string[]): string };
  };
  const listing = (JSON.parse(TOOLBOX.listingFor([])) as Listing[]).find(({ name }) => name === TOOL);
  if (listing === undefined) throw new Error(`the product no longer has the tool ${TOOL}`);
  return listing;
}

export type CallTool = (
  brandId: string,
  given: ToolArguments,
) => Promise<{ content: [{ type: "text"; text: string }]; structuredContent: Page }>;

type Page = { resource: string; count: number; data: object[]; next_cursor?: string };

/**
 * The tool as one would write it for the official SDK: the page from the product's own records service, by the gateway's
 * own client, and nothing around it. The arguments have been checked by the SDK.
 */
export function openTool(recordsAddress: string): CallTool {
  const records = connectRpc(RecordsServiceService, recordsAddress, { idempotent: ["listConversions"] });
  return async (brandId, { limit = 50, cursor, since }) => {
    const request = { brand_id: brandId, limit, cursor: cursor ?? null, since: since ?? null };
    const context = { requestId: "bench", traceparent: traceparentFrom(undefined), deadline: Date.now() + DEADLINE_MS };
    const { data, next_cursor } = await records.listConversions(request, context);
    const page = { resource: "conversions", count: data.length, data, ...(next_cursor != null && { next_cursor }) };
    return { content: [{ type: "text", text: JSON.stringify(page) }], structuredContent: page };
  };
}
