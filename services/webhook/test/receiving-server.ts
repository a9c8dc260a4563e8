import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
  readonly body: { readonly id: string; readonly type: string; readonly data: Record<string, unknown>; readonly [name: string]: unknown };
}

/** Writes the response. Default: 204. */
export type Responder = (response: ServerResponse, request: ReceivedRequest, incoming: IncomingMessage) => void;

export interface ReceivingServer {
  readonly url: string;
  readonly port: number;
  readonly requests: ReceivedRequest[];
  /** Connections opened so far. */
  readonly connections: number;
  /** Connections that are open. */
  readonly open: number;
  respond: Responder;
  stop(): Promise<void>;
}

/** Starts a receiver on loopback that records its requests. @param at default: a free port of 127.0.0.1 */
export async function startReceivingServer(
  respond: Responder = (response) => response.writeHead(204).end(),
  at: { readonly host: string; readonly port: number } = { host: "127.0.0.1", port: 0 },
): Promise<ReceivingServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const received = { requests: [] as ReceivedRequest[], respond };
  const server: Server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const rawBody = Buffer.concat(chunks);
      const body = JSON.parse(rawBody.toString()) as ReceivedRequest["body"];
      const request = { path: incoming.url ?? "", headers: incoming.headers, rawBody, body };
      received.requests.push(request);
      received.respond(response, request, incoming);
    });
    incoming.on("error", () => {});
    response.on("error", () => {});
  });
  server.on("connection", (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(at.port, at.host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${at.host}:${port}/hook`,
    port,
    requests: received.requests,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    get respond() {
      return received.respond;
    },
    set respond(next) {
      received.respond = next;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
