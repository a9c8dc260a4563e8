import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "@brand-records/testkit";
import express from "express";
import { ignoreBody } from "./body.ts";
import { contextOf, requestContext } from "./request-context.ts";

const DEADLINE_MS = 5_000;

let server: Server;
/** When a request's headers were there, and how much later its deadline was after its body. */
let received: { readonly at: number; deadlineMovedBy: number } | undefined;
beforeAll(async () => {
  const app = express();
  app.use(requestContext(DEADLINE_MS, ""));
  app.use(async (incoming, response) => {
    const { deadline } = contextOf(response);
    received = { at: Date.now(), deadlineMovedBy: 0 };
    await ignoreBody(incoming, response);
    received.deadlineMovedBy = contextOf(response).deadline - deadline;
    response.end();
  });
  server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => server.close());

it("takes nothing of the time to serve a list while its client sends a body that is ignored", async () => {
  const { port } = server.address() as AddressInfo;
  const outgoing = request({ port, host: "127.0.0.1", method: "GET", headers: { "transfer-encoding": "chunked" } });
  outgoing.flushHeaders();
  await eventually(() => expect(received).toBeDefined());
  const { at } = received as NonNullable<typeof received>;
  await eventually(() => expect(Date.now() - at).toBeGreaterThan(50));
  const sentAt = Date.now();
  const responded = once(outgoing, "response");
  outgoing.end("x");
  const [response] = await responded;
  response.resume();
  // Less one: clocks of whole milliseconds.
  expect(received?.deadlineMovedBy).toBeGreaterThanOrEqual(sentAt - at - 1);
});
