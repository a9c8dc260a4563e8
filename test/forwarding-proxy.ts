import { once } from "node:events";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A forwarded request, as the client sent it, and the status of its response. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  /** The header MCP-Protocol-Version. */
  readonly protocolVersion: string | undefined;
  /** Method of the JSON-RPC message in the body. */
  readonly rpcMethod: string | undefined;
  readonly status: number;
}

export interface ForwardingProxy {
  readonly url: string;
  /** Sorted by their responses. */
  readonly exchanges: readonly Exchange[];
  stop(): Promise<void>;
}

export interface ForwardingOptions {
  /** Headers for every request, for clients that cannot send a key. */
  readonly added?: Readonly<Record<string, string>>;
  /** Called before a request is forwarded. If it returns true, it responds, and the request is not forwarded. */
  readonly intercept?: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<boolean>;
}

/** They describe the connection, not the message. */
const HOP_BY_HOP = new Set(["connection", "keep-alive", "transfer-encoding"]);

/** Starts a proxy that forwards requests and responses unchanged, including Host and Origin, and records them. */
export async function startForwardingProxy(
  target: string,
  { added = {}, intercept = async () => false }: ForwardingOptions = {},
): Promise<ForwardingProxy> {
  const { hostname, port } = new URL(target);
  const exchanges: Exchange[] = [];
  const forward = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await buffer(incoming);
    const headers = [...endToEndHeaders(incoming), ...Object.entries(added).flat()];
    const forwarded = request({ hostname, port, agent: false, method: incoming.method, path: incoming.url, headers });
    forwarded.on("response", (response) => {
      const { statusCode: status = 0 } = response;
      exchanges.push(exchange(incoming, body.toString(), status));
      outgoing.writeHead(status, endToEndHeaders(response));
      response.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    forwarded.end(body);
  };
  const server = createServer((incoming, outgoing) => {
    intercept(incoming, outgoing)
      .then((isDone) => (isDone ? undefined : forward(incoming, outgoing)))
      // The client has gone.
      .catch(() => outgoing.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    async stop() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Returns names and values alternately, including repeated headers. */
function endToEndHeaders({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_, index) => !HOP_BY_HOP.has(rawHeaders[index - (index % 2)]?.toLowerCase() ?? ""));
}

function exchange({ method = "", url = "", headers }: IncomingMessage, body: string, status: number): Exchange {
  const protocolVersion = headers["mcp-protocol-version"]?.toString();
  return { method, path: url, protocolVersion, rpcMethod: /"method":\s*"([^"]+)"/.exec(body)?.[1], status };
}
