import type { CallContext } from "@brand-records/rpc";
import type { Services } from "../../services.ts";

/** Arguments as an assistant sent them, less those it left out by sending null or "". */
export type ToolArguments = ReadonlyMap<string, unknown>;

/** Something an assistant may call. */
export interface Tool {
  readonly name: string;
  /** As `tools/list` shows it. */
  readonly listing: ToolListing;
  /** What a key needs beyond reading; keys without it are not shown the tool. */
  readonly permission?: string;
  /**
   * @returns the answer as JSON text: an object that fits `listing.outputSchema`
   * @throws AppError
   */
  call(services: Services, brandId: string, given: ToolArguments, context: CallContext): Promise<string>;
}

/** @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool */
export interface ToolListing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly properties: object };
  readonly outputSchema: object;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}
