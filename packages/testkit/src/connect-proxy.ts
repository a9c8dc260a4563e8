import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";

export interface ConnectProxy {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly port: number;
  /** host:port of each CONNECT, in order. */
  readonly targets: string[];
  /** Proxy-Authorization of each CONNECT. */
  readonly credentials: (string | undefined)[];
  /** Ends every connection, so that the port refuses further ones. */
  stop(): Promise<void>;
}

/** What the proxy does with a CONNECT: opens a tunnel to that port of this machine, writes this response and closes, or leaves it to `handle`. */
export type ConnectAnswer = { readonly port: number } | { readonly response: string } | { readonly handle: (socket: Socket) => void };

/**
 * Starts a small HTTP proxy that knows only CONNECT, and dials 127.0.0.1 whatever the target says.
 *
 * @param listenPort default: a free one
 */
export async function startConnectProxy(answer: (target: string, number: number) => ConnectAnswer, listenPort = 0): Promise<ConnectProxy> {
  const sockets = new Set<Socket>();
  const own = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  };
  const [targets, credentials]: [string[], (string | undefined)[]] = [[], []];
  const server = createServer();
  server.on("connection", own);
  server.on("connect", ({ url = "", headers }, socket: Socket) => {
    socket.on("error", () => {});
    targets.push(url);
    credentials.push(headers["proxy-authorization"]);
    const what = answer(url, targets.length);
    if ("handle" in what) return what.handle(socket);
    if ("response" in what) return void socket.end(what.response);
    const upstream = connect(what.port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(socket);
      socket.pipe(upstream);
    });
    own(upstream);
    socket.on("close", () => upstream.destroy());
    upstream.on("close", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(listenPort, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    targets,
    credentials,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
