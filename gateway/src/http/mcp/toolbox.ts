import { OPERATIONS } from "../../operations/index.ts";
import type { Operation } from "../../operations/operation.ts";
import { invalidParams } from "./json-rpc.ts";
import { toolListing } from "./tool-listing.ts";

/** The operations as assistants find and see them. */
export interface Toolbox {
  /**
   * Finds a tool whether it is listed for these permissions or not: the call reports the missing permission.
   *
   * @throws RpcError if the tool does not exist; its message names the listed ones
   */
  named(name: string, permissions: readonly string[]): Operation;
  /**
   * The tools that a key with these permissions sees, as JSON text of an array: the same bytes each time, so that clients
   * and models can cache them.
   */
  listingFor(permissions: readonly string[]): string;
}

/** @param operations in the order in which assistants see them */
export function createToolbox(operations: readonly Operation[]): Toolbox {
  const byName: ReadonlyMap<string, Operation> = new Map(operations.map((operation) => [operation.name, operation]));
  /** Prepared once for each set of permissions that makes a difference. */
  const listings = new Map<string, string>();
  const visibleTo = (permissions: readonly string[]): readonly Operation[] =>
    operations.filter(({ permission }) => permission === undefined || permissions.includes(permission));
  const namesOf = (visible: readonly Operation[]): string => visible.map(({ name }) => name).join(", ");
  return {
    named(name, permissions) {
      const operation = byName.get(name);
      if (operation !== undefined) return operation;
      throw invalidParams(`There is no such tool. The tools are ${namesOf(visibleTo(permissions))}.`);
    },
    listingFor(permissions) {
      const visible = visibleTo(permissions);
      const id = namesOf(visible);
      const listing = listings.get(id) ?? JSON.stringify(visible.map(toolListing));
      listings.set(id, listing);
      return listing;
    },
  };
}

export const TOOLBOX = createToolbox(OPERATIONS);
