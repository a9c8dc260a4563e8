import { invalidParams, type RpcParams } from "./json-rpc.ts";

/**
 * `tools/list` answers everything at once, so no client ever got a cursor for it.
 *
 * @throws RpcError if there is one
 */
export function requireFirstPage({ cursor }: RpcParams): void {
  if (cursor != null && cursor !== "") throw invalidParams("There is no such page: all tools come at once, without a cursor.");
}
