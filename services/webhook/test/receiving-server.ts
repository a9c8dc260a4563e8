import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
  readonly body: { readonly id: string; readonly type: string; readonly data: Record<string, unknown>; readonly [name: string]: unknown };
}

/** Answers 204 unless told otherwise. */
export type Answer = (response: ServerResponse, request: ReceivedRequest, incoming: IncomingMessage) => void;

export interface ReceivingServer {
  readonly url: string;
  readonly port: number;
  readonly requests: ReceivedRequest[];
  /** Connections that were ever opened. */
  readonly connections: number;
  answer: Answer;
  stop(): Promise<void>;
}

/** A receiver on loopback that keeps what came. */
export async function startReceivingServer(answer: Answer = (response) => response.writeHead(204).end()): Promise<ReceivingServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const received = { requests: [] as ReceivedRequest[], answer };
  const server: Server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const rawBody = Buffer.concat(chunks);
      const body = JSON.parse(rawBody.toString()) as ReceivedRequest["body"];
      const request = { path: incoming.url ?? "", headers: incoming.headers, rawBody, body };
      received.requests.push(request);
      received.answer(response, request, incoming);
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
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    requests: received.requests,
    get connections() {
      return connections;
    },
    get answer() {
      return received.answer;
    },
    set answer(next) {
      received.answer = next;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
