import { createServer, type AddressInfo, type Socket } from "node:net";

export interface RawRequest {
  readonly socket: Socket;
  /** Head and body, as received. */
  readonly text: string;
  /** Position on its connection. The first is 1. */
  readonly number: number;
}

export interface RawReceiver {
  readonly url: string;
  readonly port: number;
  readonly requests: RawRequest[];
  stop(): Promise<void>;
}

export const NO_CONTENT = "HTTP/1.1 204 No Content\r\n\r\n";

/**
 * Starts a raw TCP server, for responses that no HTTP server sends. Calls `onRequest` for every complete request; keeps connections open.
 *
 * @param onData called for whatever comes, also if it is no request
 */
export async function startRawReceiver(onRequest: (request: RawRequest) => void, onData?: (socket: Socket) => void): Promise<RawReceiver> {
  const sockets = new Set<Socket>();
  const requests: RawRequest[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    let [text, number] = ["", 0];
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => {
      onData?.(socket);
      text += chunk.toString();
      const length = /^content-length: (\d+)\r$/im.exec(text)?.[1];
      const head = text.indexOf("\r\n\r\n");
      if (head < 0 || text.length < head + 4 + Number(length ?? 0)) return;
      const request = { socket, text, number: (number += 1) };
      text = "";
      requests.push(request);
      onRequest(request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    requests,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
