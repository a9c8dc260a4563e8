import { LIST_OPERATIONS } from "../../operations/index.ts";
import { invalidParams } from "./json-rpc.ts";
import { listTool } from "./list-tool.ts";
import type { Tool } from "./tool.ts";

/** Every tool, in the order in which assistants see them. */
const TOOLS: readonly Tool[] = Object.values(LIST_OPERATIONS).map(listTool);

const TOOL_BY_NAME: ReadonlyMap<string, Tool> = new Map(TOOLS.map((tool) => [tool.name, tool]));

/** @throws RpcError if there is none */
export function toolNamed(name: string): Tool {
  const tool = TOOL_BY_NAME.get(name);
  if (tool !== undefined) return tool;
  throw invalidParams(`There is no such tool. The tools are ${[...TOOL_BY_NAME.keys()].join(", ")}.`);
}

const listings = new Map<string, string>();

/**
 * The tools that a key with these permissions sees, as JSON text of an array. Prepared once per set of permissions that
 * make a difference: the same bytes each time, so that clients and models can cache them.
 */
export function toolListing(permissions: readonly string[]): string {
  const visible = TOOLS.filter(({ permission }) => permission === undefined || permissions.includes(permission));
  const id = visible.map(({ name }) => name).join();
  const listing = listings.get(id) ?? JSON.stringify(visible.map((tool) => tool.listing));
  listings.set(id, listing);
  return listing;
}
