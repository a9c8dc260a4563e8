import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface Arrival {
  /** The receiver's number. */
  readonly receiver: number;
  readonly eventId: string;
  /** Id of the event's record. */
  readonly record: string;
  readonly attempt: number;
  /** The timestamp that is signed, in milliseconds. */
  readonly signedAt: number;
  /** When it was received whole. */
  readonly at: number;
  /** Requests of the receiver without a response by then. */
  readonly beside: number;
  /** How the receiver responded: only `accepted` is a 2xx. */
  readonly behavior: Behavior;
}

export const BEHAVIORS = ["accepted", "500", "hang", "drip", "reset", "redirect", "close", "100 MB"] as const;
export type Behavior = (typeof BEHAVIORS)[number];

export interface FakeReceivers {
  urlOf(receiver: number): string;
  /** All requests, in order of arrival. */
  readonly arrivals: readonly Arrival[];
  /** Requests currently without a response. */
  readonly hanging: number;
  stop(): Promise<void>;
}

const MEGABYTE = Buffer.alloc(1024 * 1024, "x");

/**
 * Starts many receivers on one port, distinguished by path.
 *
 * @param choose selects the behavior of a receiver for an attempt
 */
export async function startFakeReceivers(choose: (receiver: number, attempt: number) => Behavior): Promise<FakeReceivers> {
  const arrivals: Arrival[] = [];
  const sockets = new Set<Socket>();
  let hanging = 0;
  /** Requests without a response, by receiver. */
  const open = new Map<number, number>();
  const server = createServer((request, response) => {
    request.on("error", () => {});
    response.on("error", () => {});
    void bodyOf(request).then((body) => {
      const receiver = Number(request.url?.slice(1));
      const attempt = Number(request.headers["x-service-attempt"]);
      const signedAt = Number(request.headers["x-service-timestamp"]) * 1_000;
      const { id, data } = JSON.parse(body) as { id: string; data: { id: string } };
      const behavior = choose(receiver, attempt);
      const beside = open.get(receiver) ?? 0;
      open.set(receiver, beside + 1);
      response.on("close", () => void open.set(receiver, (open.get(receiver) ?? 1) - 1));
      arrivals.push({ receiver, eventId: id, record: data.id, attempt, signedAt, at: Date.now(), beside, behavior });
      if (behavior === "hang") {
        hanging += 1;
        response.on("close", () => void (hanging -= 1));
      }
      respond(behavior, response);
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  // Does what a load balancer does: the sender discovers a closed connection only when it uses it.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (receiver) => `http://127.0.0.1:${port}/${receiver}`,
    arrivals,
    get hanging() {
      return hanging;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function respond(behavior: Behavior, response: ServerResponse): void {
  switch (behavior) {
    case "accepted":
      response.writeHead(204).end();
      return;
    case "500":
      response.writeHead(500).end("not now");
      return;
    case "redirect":
      response.writeHead(301, { location: "/0" }).end();
      return;
    case "reset":
      response.socket?.resetAndDestroy();
      return;
    case "close":
      response.writeHead(200, { "content-length": "10" }).write("abc");
      response.socket?.end();
      return;
    case "drip": {
      response.writeHead(200);
      const timer = setInterval(() => response.write("."), 100);
      response.on("close", () => clearInterval(timer));
      return;
    }
    case "100 MB": {
      response.writeHead(500);
      let megabytes = 0;
      const more = (): void => {
        while (megabytes < 100 && !response.destroyed && response.write(MEGABYTE)) megabytes += 1;
        if (megabytes >= 100) response.end();
        else if (!response.destroyed) response.once("drain", more);
      };
      more();
      return;
    }
    case "hang":
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
