import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { errorHandler } from "@brand-records/edge";
import { countServerErrors } from "@brand-records/rpc";
import { openMetrics } from "@brand-records/telemetry";
import express from "express";
import { boundBodies } from "../src/http/body.ts";
import { forwardToConsole, type ConsoleTarget } from "../src/http/console/forward.ts";
import { sendError } from "../src/http/errors.ts";
import { requestContext } from "../src/http/request-context.ts";
import { startHttpServer } from "../src/http/server.ts";

/** A gateway that serves nothing but the console's paths, and clients that write bytes. */
export interface ServedForwarding {
  /** http://127.0.0.1:PORT. */
  readonly url: string;
  /** Opens a connection, which sends `bytes`. Its errors are ignored. */
  send(bytes: string): Socket;
  /** Ends the connections of `send`. */
  disconnect(): void;
  /** Ends them, and the server. */
  stop(): Promise<void>;
}

/** Serves the console's paths from `upstream`; all others get 404 with the text "gateway". */
export async function serveForwarding(upstream: ConsoleTarget["upstream"]): Promise<ServedForwarding> {
  const metrics = openMetrics("gateway");
  const app = express();
  app.set("trust proxy", 1);
  app.use(requestContext(5_000, ""));
  app.use(boundBodies(metrics));
  app.use(forwardToConsole({ upstream, publicUrl: "https://records.example" }));
  app.use((_request, response) => void response.status(404).end("gateway"));
  app.use(errorHandler(countServerErrors(metrics), sendError));
  const server = await startHttpServer(app, {
    host: "127.0.0.1",
    port: 0,
    headersTimeoutMs: 10_000,
    requestTimeoutMs: 10_000,
    keepAliveMs: 65_000,
    brokenRequestHeaders: {},
    errorDocs: "",
    onBrokenRequest: () => {},
  });
  const clients = new Set<Socket>();
  const disconnect = (): void => {
    for (const client of clients) client.destroy();
    clients.clear();
  };
  return {
    url: `http://127.0.0.1:${server.port}`,
    send(bytes) {
      const socket = connect(server.port, "127.0.0.1");
      clients.add(socket);
      socket.on("error", () => {});
      socket.write(bytes, "latin1");
      return socket;
    },
    disconnect,
    async stop() {
      disconnect();
      await server.stop();
    },
  };
}

/** Returns all that the server sends until it closes the connection. */
export async function untilClosed(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  await once(socket, "close");
  return text;
}
