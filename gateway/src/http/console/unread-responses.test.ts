import { errorHandler, type HttpServer } from "@brand-records/edge";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { countServerErrors } from "@brand-records/rpc";
import { openMetrics } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import express from "express";
import { boundBodies } from "../body.ts";
import { sendError } from "../errors.ts";
import { requestContext } from "../request-context.ts";
import { startHttpServer } from "../server.ts";
import { forwardToConsole } from "./forward.ts";
import type { ConsoleRequest } from "./upstream.ts";

/** One promise: clients that read none of their responses occupy no request in flight, and bounded memory. */

/** More requests than one network may have in flight. */
const READERS = 70;
/** More than the kernel's buffers hold for a client. */
const LARGE = Buffer.alloc(8 * 1024 * 1024 - 1_024, "x");

let gateway: HttpServer;
let requests: ConsoleRequest[];
const clients = new Set<Socket>();
beforeAll(async () => {
  requests = [];
  const upstream = {
    request(request: ConsoleRequest) {
      requests.push(request);
      return Promise.resolve({ statusCode: 200, headers: {}, body: request.path === "/developers" ? Buffer.from("console") : LARGE });
    },
  };
  const app = express();
  const metrics = openMetrics("gateway");
  app.use(requestContext(5_000));
  app.use(boundBodies(metrics));
  app.use(forwardToConsole({ upstream, publicUrl: "https://records.example" }));
  app.use(errorHandler(countServerErrors(metrics), sendError));
  gateway = await startHttpServer(app, {
    host: "127.0.0.1",
    port: 0,
    headersTimeoutMs: 10_000,
    requestTimeoutMs: 10_000,
    brokenRequestHeaders: {},
    onBrokenRequest: () => {},
  });
});
afterAll(async () => {
  for (const client of clients) client.destroy();
  await gateway.stop();
});

it("serves a page while one network reads none of 70 scripts, and gives up those that have waited longest", async () => {
  const readers = Array.from({ length: READERS }, async () => {
    const socket = connect(gateway.port, "127.0.0.1").pause();
    clients.add(socket);
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write("GET /console/assets/x HTTP/1.1\r\nHost: x\r\n\r\n");
    return socket;
  });
  const sockets = await Promise.all(readers);
  await eventually(() => expect(requests).toHaveLength(READERS));
  expect(await (await fetch(`http://127.0.0.1:${gateway.port}/developers`)).text()).toBe("console");
  // 64 MiB are eight of them.
  const isCut = await Promise.all(
    sockets.map(async (socket) => {
      let bytes = 0;
      socket.on("data", (chunk: Buffer) => (bytes += chunk.length));
      socket.resume();
      await Promise.race([once(socket, "close"), eventually(() => expect(bytes).toBeGreaterThan(LARGE.length))]);
      return bytes < LARGE.length;
    }),
  );
  expect(isCut.filter((cut) => !cut)).toHaveLength(8);
});
