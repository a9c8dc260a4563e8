import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { Readable } from "node:stream";

/** What happens to the first response of a path. */
export type Fault =
  /** The connection ends after that many bytes. */
  | "end"
  /** It is reset after that many bytes. */
  | "reset"
  /** Nothing follows that many bytes, and it stays open. */
  | "stall";

export interface CuttingProxy {
  /** Returns an address whose first response is cut. Only the first request of a method is cut. */
  urlOf(fault: Fault, bytes: number): string;
  /** How often each request came, such as `GET /end/100`. */
  readonly requests: ReadonlyMap<string, number>;
  /** Bytes of the last response that was not cut, by the addresses. */
  readonly lengths: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/**
 * Starts a proxy of HTTP/1.1 before `target`, one request a connection. The fault stands in the path, which the target gets without it.
 * A GET is forwarded until one response was not cut, which is replayed from then on: thousands of cuts need not load the target.
 */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const requests = new Map<string, number>();
  const lengths = new Map<string, number>();
  const recordings = new Map<string, Buffer>();
  const sockets = new Set<Socket>();

  const keep = (socket: Socket): Socket => {
    sockets.add(socket.on("close", () => sockets.delete(socket)));
    // Either side may be gone already.
    return socket.on("error", () => socket.destroy());
  };
  const forward = (client: Socket, head: string): Socket => {
    const upstream = keep(connect(Number(port), hostname));
    upstream.write(head, "latin1");
    client.pipe(upstream);
    return upstream;
  };
  const serve = (client: Socket): void => {
    keep(client);
    let head = "";
    const readHead = (chunk: Buffer): void => {
      head += chunk.toString("latin1");
      const fault = /^(\w+) (\/(end|reset|stall)\/(\d+))/.exec(head);
      if (fault === null || !head.includes("\r\n\r\n")) return;
      const [request, , prefix = "", kind, bytes] = fault;
      client.off("data", readHead);
      const forwarded = head.replace(prefix, "").replace(/\r\nconnection: [^\r]*/i, "\r\nConnection: close");
      const [line = ""] = forwarded.split("\r\n");
      const recording = recordings.get(line);
      const response = recording === undefined ? forward(client, forwarded) : Readable.from([recording]);
      const count = (requests.get(request) ?? 0) + 1;
      requests.set(request, count);
      if (count === 1) return cut(response, client, kind as Fault, Number(bytes));
      let whole = Buffer.alloc(0);
      response.on("data", (chunk: Buffer) => {
        whole = Buffer.concat([whole, chunk]);
        lengths.set(prefix, whole.length);
      });
      response.on("end", () => request.startsWith("GET ") && recordings.set(line, whole));
      response.pipe(client);
    };
    client.on("data", readHead);
  };

  const server = createServer(serve).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    urlOf: (fault, bytes) => `${url}/${fault}/${bytes}`,
    requests,
    lengths,
    async stop() {
      for (const socket of sockets) socket.destroy();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

function cut(response: Readable, client: Socket, fault: Fault, bytes: number): void {
  let left = bytes;
  response.on("data", (chunk: Buffer) => {
    const passed = chunk.subarray(0, left);
    left -= passed.length;
    client.write(passed);
    if (left > 0 || fault === "stall") return;
    response.destroy();
    if (fault === "end") client.end();
    // A reset in a write's callback would shut the socket down, and neither reset nor close it.
    else client.resetAndDestroy();
  });
  // A response shorter than the cut is whole.
  response.on("end", () => fault !== "stall" && client.end());
}
