import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listenOn, type Listening } from "@brand-records/command-line";
import type { ReceivedDelivery } from "./verify-delivery.ts";

/** Far more than the service sends: an event has at most 20 KiB. */
export const BODY_BYTES_MAX = 1024 * 1024;
const REQUEST_MS = 30_000;

/**
 * Starts an HTTP server on 127.0.0.1.
 *
 * @param onDelivery called with every POST whose body was read completely; returns the status to respond with
 * @throws CommandFailure if the port is taken
 */
export const startLocalReceiver = (port: number, onDelivery: (delivery: ReceivedDelivery) => number): Promise<Listening> =>
  listenOn(
    createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
      respond(request, response, onDelivery).catch(() => response.destroy());
    }),
    port,
  );

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  onDelivery: (delivery: ReceivedDelivery) => number,
): Promise<void> {
  if (request.method !== "POST") return void response.writeHead(405, { allow: "POST" }).end();
  const body = await readBody(request);
  if (body === undefined) return void response.writeHead(413, { connection: "close" }).end();
  response.writeHead(onDelivery({ headers: request.headers, body })).end();
}

/** Returns undefined if the body is too large; the rest is not read into memory. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > BODY_BYTES_MAX) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
