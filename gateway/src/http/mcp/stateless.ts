import type { IncomingHttpHeaders } from "node:http";
import { callTool } from "./call-tool.ts";
import { toolsMember, unsupportedVersion, type Generation, type Method } from "./generation.ts";
import { invalidParams, isObject, RPC_CODES, RpcError, type RpcParams, type RpcRequest } from "./json-rpc.ts";
import { CAPABILITIES, instructionsFor, SERVER_INFO, STATELESS_VERSION, SUPPORTED_VERSIONS } from "./server-info.ts";

const META = "io.modelcontextprotocol/";
/** How long clients may cache a list of tools: the delay until they see those of a new deployment. */
const TTL_MS = 5 * 60_000;
const AS_OF = `discovery, up to ${TTL_MS / 60_000} minutes ago,`;
/** Prepared once; every result is built around them. */
const COMPLETE = `"resultType":"complete"`;
const CACHE = `"ttlMs":${TTL_MS},"cacheScope":"private"`;
const SERVER = `"_meta":${JSON.stringify({ [`${META}serverInfo`]: SERVER_INFO })}`;
const DISCOVERED = membersOf({ supportedVersions: SUPPORTED_VERSIONS, capabilities: CAPABILITIES });

/**
 * 2026-07-28: every request carries its version and the client's capabilities in `_meta`, and repeats in headers what
 * balancers and firewalls may inspect. Headers and body must agree.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export const stateless: Generation = {
  name: "stateless",
  statuses: { [RPC_CODES.method_not_found]: 404, [RPC_CODES.invalid_params]: 400 },

  methods: new Map<string, Method>([
    [
      "server/discover",
      (_params, { principal, publicUrl }) => {
        const instructions = instructionsFor({ principal, publicUrl, now: Date.now(), asOf: AS_OF });
        return `{${COMPLETE},${DISCOVERED},${membersOf({ instructions })},${CACHE},${SERVER}}`;
      },
    ],
    ["tools/list", (params, caller) => `{${COMPLETE},${toolsMember(params, caller)},${CACHE},${SERVER}}`],
    ["tools/call", async (params, caller) => `{${COMPLETE},${await callTool(params, caller)},${SERVER}}`],
  ]),

  check({ method, params }, headers) {
    const { [`${META}protocolVersion`]: version, [`${META}clientCapabilities`]: capabilities } = metaOf(params);
    const header = headers["mcp-protocol-version"];
    if (version === undefined && header !== STATELESS_VERSION) throw unsupportedVersion(String(header));
    if (typeof version !== "string") throw invalidParams(`params._meta must have ${META}protocolVersion, as text.`);
    requireSame("MCP-Protocol-Version", header, version);
    if (version !== STATELESS_VERSION) throw unsupportedVersion(version);
    if (!isObject(capabilities)) throw invalidParams(`params._meta must have ${META}clientCapabilities, an object.`);
    requireSame("Mcp-Method", headers["mcp-method"], method);
    if (method === "tools/call") requireSame("Mcp-Name", decoded(headers["mcp-name"]), params["name"]);
  },
};

/** Whether a message is of this generation: it names a protocol version itself, or one of this generation in its header. */
export function isStateless({ method, params }: RpcRequest, headers: IncomingHttpHeaders): boolean {
  if (Object.hasOwn(metaOf(params), `${META}protocolVersion`)) return true;
  // Opens a connection of the other generation, whatever the header of a client that has not negotiated yet holds.
  if (method === "initialize") return false;
  return String(headers["mcp-protocol-version"] ?? "") >= STATELESS_VERSION;
}

function metaOf({ _meta: meta }: RpcParams): RpcParams {
  return isObject(meta) ? meta : {};
}

/** An intermediary may have decided by the header, so a body that differs is refused. */
function requireSame(name: string, header: string | string[] | undefined, inBody: unknown): void {
  if (header === undefined) throw headerMismatch(`The header ${name} is missing.`);
  if (header !== inBody) throw headerMismatch(`The header ${name} differs from the body.`);
}

const headerMismatch = (message: string): RpcError => new RpcError(RPC_CODES.header_mismatch, "invalid_request", message);

const ENCODED = /^=\?base64\?(?<base64>(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;

/** Values that no header can hold are sent as Base64 of their UTF-8. */
function decoded(header: string | string[] | undefined): string | undefined {
  if (typeof header !== "string" || !header.startsWith("=?base64?")) return header?.toString();
  const base64 = ENCODED.exec(header)?.groups?.["base64"];
  if (base64 === undefined) throw headerMismatch("The header Mcp-Name is not Base64 between =?base64? and ?=.");
  return Buffer.from(base64, "base64").toString();
}

function membersOf(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}
