import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { RecordsServiceService } from "@brand-records/proto/records/v1";
import { connectRpc, newCallContext } from "@brand-records/rpc";
import { ROOT } from "../../harness/programs.ts";

const DEADLINE_MS = 10_000;
const TOOL = "list_conversions";

export interface ToolArguments {
  readonly limit?: number;
  readonly cursor?: string;
  readonly since?: string;
}

/** The tool as the product lists it, with schemas in JSON Schema. */
export interface Listing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema: Readonly<Record<string, unknown>>;
  readonly annotations: object;
}

/** Reads the listing from the product's compiled code, so that every variant of the benchmark lists the same tool. */
export async function productListing(): Promise<Listing> {
  const { TOOLBOX } = (await import(pathToFileURL(join(ROOT, "gateway/dist/http/mcp/toolbox.js")).href)) as {
    TOOLBOX: { listingFor(permissions: readonly string[], facts: object): string };
  };
  const listing = (JSON.parse(TOOLBOX.listingFor([], { publicUrl: "http://127.0.0.1", now: 0 })) as Listing[]).find(
    ({ name }) => name === TOOL,
  );
  if (listing === undefined) throw new Error(`the product no longer has the tool ${TOOL}`);
  return listing;
}

type CallTool = (brandId: string, args: ToolArguments) => Promise<{ content: [{ type: "text"; text: string }]; structuredContent: Page }>;

type Page = { resource: string; count: number; next_cursor?: string; data: object[] };

/**
 * Calls the tool as a program on the official SDK would implement it: reads the page from the product's records service, with the
 * gateway's RPC client. The SDK has validated the arguments.
 */
export function openTool(recordsAddress: string): CallTool {
  const records = connectRpc(RecordsServiceService, recordsAddress);
  return async (brandId, { limit = 50, cursor, since }) => {
    const request = { brand_id: brandId, limit, cursor: cursor ?? null, since: since ?? null };
    const context = newCallContext(DEADLINE_MS, "bench");
    const { data, next_cursor } = await records.listConversions(request, context);
    const page = { resource: "conversions", count: data.length, ...(next_cursor != null && { next_cursor }), data };
    return { content: [{ type: "text", text: JSON.stringify(page) }], structuredContent: page };
  };
}
