import { LIST_OPERATIONS } from "../../operations/index.ts";
import { invalidParams } from "./json-rpc.ts";
import { listTool } from "./list-tool.ts";
import { planTool } from "./plan-tool.ts";
import type { Tool } from "./tool.ts";

export interface Toolbox {
  /**
   * Finds a tool, listed for these permissions or not: calling it says which permission is missing.
   *
   * @throws RpcError if there is no such tool; its message names the listed ones
   */
  named(name: string, permissions: readonly string[]): Tool;
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
  const listedFor = (permissions: readonly string[]): readonly Tool[] =>
    tools.filter(({ permission }) => permission === undefined || permissions.includes(permission));
  const namesOf = (listed: readonly Tool[]): string => listed.map(({ name }) => name).join(", ");
  return {
    named(name, permissions) {
      const tool = byName.get(name);
      if (tool !== undefined) return tool;
      throw invalidParams(`There is no such tool. The tools are ${namesOf(listedFor(permissions))}.`);
    },
    listingFor(permissions) {
      const visible = listedFor(permissions);
      const id = namesOf(visible);
      const listing = listings.get(id) ?? JSON.stringify(visible.map((tool) => tool.listing));
      listings.set(id, listing);
      return listing;
    },
  };
}

/** Every tool there is. */
export const TOOLBOX = createToolbox([...Object.values(LIST_OPERATIONS).map(listTool), planTool]);
