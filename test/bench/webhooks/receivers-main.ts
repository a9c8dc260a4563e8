import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { RECEIVERS } from "./settings.ts";
import type { Arrivals, Counts, ToReceivers } from "./receivers.ts";

/** Plain HTTP receivers, one per port, that read each request and respond 204. Hanging ones respond once they no longer hang. */

let arrived: number[] = [];
let createdAtMs: number[] = [];
let latenciesMs: number[] = [];
let hanging = new Set<number>();
let unmeasured = new Set<number>();
let heldBack: { readonly receiver: number; readonly response: ServerResponse }[] = [];
reset();

const CREATED_AT = /"created_at":"([^"]+)"/;

const ports = await Promise.all(
  Array.from({ length: RECEIVERS }, async (_, receiver) => {
    const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      let head = "";
      request.on("data", (chunk: Buffer) => {
        if (head === "") head = chunk.toString("latin1", 0, 400);
      });
      request.on("end", () => {
        if (hanging.has(receiver)) return void heldBack.push({ receiver, response });
        record(receiver, head);
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  }),
);

function record(receiver: number, head: string): void {
  arrived[receiver] = (arrived[receiver] ?? 0) + 1;
  const text = CREATED_AT.exec(head)?.[1];
  if (text === undefined || unmeasured.has(receiver)) return;
  const created = Date.parse(text);
  createdAtMs.push(created);
  latenciesMs.push(Date.now() - created);
}

function reset(): void {
  arrived = Array.from({ length: RECEIVERS }, () => 0);
  createdAtMs = [];
  latenciesMs = [];
}

function respondToHeldBack(): void {
  const { done = [], waiting = [] } = Object.groupBy(heldBack, ({ receiver }) => (hanging.has(receiver) ? "waiting" : "done"));
  heldBack = waiting;
  // Those that the sender has given up are closed.
  for (const { response } of done) if (!response.destroyed) response.writeHead(204).end();
}

process.on("message", (message: ToReceivers) => {
  if ("begin" in message) {
    reset();
    hanging = new Set(message.begin.hanging);
    unmeasured = new Set(message.begin.unmeasured);
    respondToHeldBack();
    process.send?.({});
  } else if ("count" in message) {
    process.send?.({ arrived: arrived.reduce((sum, count) => sum + count, 0), measured: latenciesMs.length } satisfies Counts);
  } else {
    process.send?.({ arrived, createdAtMs, latenciesMs } satisfies Arrivals);
  }
});
process.on("disconnect", () => process.exit());
process.on("SIGTERM", () => process.exit());
process.send?.({ ready: { ports } });
