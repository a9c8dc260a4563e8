import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { RECEIVERS } from "./settings.ts";
import type { FromReceivers, ToReceivers } from "./receivers.ts";

/** Plain HTTP receivers, one per port, that read each request and respond 204. Hanging ones never respond. */

let arrived: number[] = Array.from({ length: RECEIVERS }, () => 0);
let latenciesMs: number[] = [];
let hanging = new Set<number>();
let unmeasured = new Set<number>();

const CREATED_AT = /"created_at":"([^"]+)"/;

const ports = await Promise.all(
  Array.from({ length: RECEIVERS }, async (_, number) => {
    const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      let head = "";
      request.on("data", (chunk: Buffer) => {
        if (head === "") head = chunk.toString("latin1", 0, 400);
      });
      request.on("end", () => {
        if (hanging.has(number)) return;
        arrived[number] = (arrived[number] ?? 0) + 1;
        const created = CREATED_AT.exec(head)?.[1];
        if (created !== undefined && !unmeasured.has(number)) latenciesMs.push(Date.now() - Date.parse(created));
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  }),
);

process.on("message", (message: ToReceivers) => {
  if ("begin" in message) {
    arrived = arrived.map(() => 0);
    latenciesMs = [];
    hanging = new Set(message.begin.hanging);
    unmeasured = new Set(message.begin.unmeasured);
  }
  process.send?.({ arrived, latenciesMs } satisfies FromReceivers);
});
process.on("disconnect", () => process.exit());
process.on("SIGTERM", () => process.exit());
process.send?.({ ready: { ports } });
