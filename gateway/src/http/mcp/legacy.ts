import { callTool } from "./call-tool.ts";
import { toolsMember, unsupportedVersion, type Caller, type Generation, type Method } from "./generation.ts";
import { RPC_CODES, type RpcParams } from "./json-rpc.ts";
import { CAPABILITIES, instructionsFor, LEGACY_VERSIONS, SERVER_INFO } from "./server-info.ts";

/**
 * 2025-03-26, 2025-06-18 and 2025-11-25: a connection begins with `initialize`. The server keeps nothing of it: there is no
 * session, and every later message stands alone. Batches, which only 2025-03-26 has, are refused: no client of that
 * version sends one unless its user makes it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
export const legacy: Generation = {
  name: "legacy",
  // A method's error is a regular response: the HTTP request succeeded.
  statuses: { [RPC_CODES.method_not_found]: 200, [RPC_CODES.invalid_params]: 200 },

  methods: new Map<string, Method>([
    ["initialize", initialize],
    ["ping", () => "{}"],
    ["tools/list", (params, caller) => `{${toolsMember(params, caller)}}`],
    ["tools/call", async (params, caller) => `{${await callTool(params, caller)}}`],
  ]),

  /** Clients of 2025-03-26 send no header. They are served as the oldest version; the newer ones do not differ here. */
  check({ method }, { "mcp-protocol-version": header }) {
    if (method === "initialize" || header === undefined) return;
    if (!LEGACY_VERSIONS.some((version) => version === header)) throw unsupportedVersion(String(header));
  },
};

/** Chooses the client's version if it is known, else the newest of this generation: the client decides whether to continue. */
function initialize({ protocolVersion: requested }: RpcParams, { principal, publicUrl }: Caller): string {
  const protocolVersion = LEGACY_VERSIONS.find((version) => version === requested) ?? LEGACY_VERSIONS.at(-1);
  const instructions = instructionsFor({ principal, publicUrl, now: Date.now(), asOf: "connecting" });
  return JSON.stringify({ protocolVersion, capabilities: CAPABILITIES, serverInfo: SERVER_INFO, instructions });
}
