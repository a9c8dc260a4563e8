import type { IncomingHttpHeaders } from "node:http";
import { holdsSecret } from "@brand-records/rpc";
import { isObject, type RpcOneWay, type RpcParams, type RpcRequest } from "./json-rpc.ts";

/** Characters of a name that are kept. */
const NAME_LENGTH_MAX = 64;
/** Neither a control character nor an invisible one changes how a name looks in the console. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/gu;
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** The name of the first product: `claude-code` of `claude-code/2.1 (cli)`. */
const PRODUCT = /^[^\s/(]+/;

/**
 * Returns what the client of a message calls itself. `initialize` and every request of the stateless generation declare a name; other
 * messages have User-Agent alone, as the server keeps nothing of a connection, and so has what is refused unread. It proves nothing.
 *
 * @returns 1 to 64 visible characters; `unnamed` if there is no name, or a secret in its place
 */
export function clientNameOf(message: RpcRequest | RpcOneWay | undefined, headers: IncomingHttpHeaders): string {
  const declared = message?.kind === "request" ? cleanName(declaredIn(message)) : undefined;
  return declared ?? productOf(headers["user-agent"]);
}

/** Returns the first product that a User-Agent names, as `clientNameOf` does. */
export const productOf = (userAgent = ""): string => cleanName(PRODUCT.exec(userAgent)?.[0]) ?? "unnamed";

function declaredIn({ method, params }: RpcRequest): unknown {
  const { _meta: meta } = params;
  const info = method === "initialize" ? params["clientInfo"] : isObject(meta) && meta["io.modelcontextprotocol/clientInfo"];
  return isObject(info) ? (info satisfies RpcParams)["name"] : undefined;
}

function cleanName(name: unknown): string | undefined {
  if (typeof name !== "string") return undefined;
  // Cut first: a body may hold hundreds of kilobytes of blanks.
  const visible = name
    .slice(0, 16 * NAME_LENGTH_MAX)
    .toWellFormed()
    .replaceAll(CONTROL, " ")
    .replaceAll(INVISIBLE, "");
  if (holdsSecret(visible)) return undefined;
  const clean = visible.replaceAll(/\s+/g, " ").trim();
  return [...clean].slice(0, NAME_LENGTH_MAX).join("").trim() || undefined;
}
