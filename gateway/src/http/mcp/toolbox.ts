import { LIST_OPERATIONS } from "../../operations/index.ts";
import { invalidParams } from "./json-rpc.ts";
import { listTool } from "./list-tool.ts";
import { planTool } from "./plan-tool.ts";
import type { Tool } from "./tool.ts";

export interface Toolbox {
  /** @throws RpcError if there is no such tool */
  named(name: string): Tool;
  /**
   * The tools that a key with these permissions sees, as JSON text of an array: the same bytes each time, so that clients
   * and models can cache them.
   */
  listingFor(permissions: readonly string[]): string;
}

/** @param tools in the order in which assistants see them */
export function createToolbox(tools: readonly Tool[]): Toolbox {
  const byName: ReadonlyMap<string, Tool> = new Map(tools.map((tool) => [tool.name, tool]));
  /** Prepared once for each set of permissions that makes a difference. */
  const listings = new Map<string, string>();
  return {
    named(name) {
      const tool = byName.get(name);
      if (tool !== undefined) return tool;
      throw invalidParams(`There is no such tool. The tools are ${[...byName.keys()].join(", ")}.`);
    },
    listingFor(permissions) {
      const visible = tools.filter(({ permission }) => permission === undefined || permissions.includes(permission));
      const id = visible.map(({ name }) => name).join();
      const listing = listings.get(id) ?? JSON.stringify(visible.map((tool) => tool.listing));
      listings.set(id, listing);
      return listing;
    },
  };
}

/** Every tool there is. */
export const TOOLBOX = createToolbox([...Object.values(LIST_OPERATIONS).map(listTool), planTool]);
