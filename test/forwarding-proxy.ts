import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A request that came through, as the client sent it, and how it was answered. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  /** The header MCP-Protocol-Version. */
  readonly protocolVersion: string | undefined;
  /** Of the JSON-RPC message in the body, if there is one. */
  readonly rpcMethod: string | undefined;
  readonly status: number;
}

export interface ForwardingProxy {
  readonly url: string;
  /** In the order in which they were answered. */
  readonly exchanges: readonly Exchange[];
  stop(): Promise<void>;
}

/** About the connection rather than the message: this side has its own. */
const HOP_BY_HOP = new Set(["connection", "keep-alive", "transfer-encoding"]);

/**
 * Passes on what HTTP clients send and are answered, Host and Origin included, and keeps account of it.
 *
 * @param added headers that every request gets, for clients that cannot send a key
 */
export async function startForwardingProxy(target: string, added: Readonly<Record<string, string>> = {}): Promise<ForwardingProxy> {
  const { hostname, port } = new URL(target);
  const exchanges: Exchange[] = [];
  const server = createServer((incoming, outgoing) => {
    const sent = text(incoming);
    const headers = [...passedOn(incoming), ...Object.entries(added).flat()];
    const forwarded = request({ hostname, port, agent: false, method: incoming.method, path: incoming.url, headers });
    forwarded.on("response", (answer) => {
      const { statusCode: status = 0 } = answer;
      void sent.then((body) => {
        exchanges.push(exchange(incoming, body, status));
        outgoing.writeHead(status, passedOn(answer));
        answer.pipe(outgoing);
      });
    });
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
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

/** Names and values in turn, as they came: also repeated ones. */
function passedOn({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_, index) => !HOP_BY_HOP.has(rawHeaders[index - (index % 2)]?.toLowerCase() ?? ""));
}

function exchange({ method = "", url = "", headers }: IncomingMessage, body: string, status: number): Exchange {
  const protocolVersion = headers["mcp-protocol-version"]?.toString();
  return { method, path: url, protocolVersion, rpcMethod: /"method":\s*"([^"]+)"/.exec(body)?.[1], status };
}
