import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { errorCode, errorReason } from "@brand-records/command-line";
import { CommandFailure } from "../failure.ts";
import type { ReceivedDelivery } from "./verify-delivery.ts";

/** Far more than the service sends: an event has at most 20 KiB. */
export const BODY_BYTES_MAX = 1024 * 1024;
const REQUEST_MS = 30_000;

export interface LocalReceiver {
  /** Such as `http://127.0.0.1:8787/`. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts an HTTP server on 127.0.0.1.
 *
 * @param onDelivery called with every POST whose body was read completely; returns the status to respond with
 * @throws CommandFailure if the port is taken
 */
export async function startLocalReceiver(port: number, onDelivery: (delivery: ReceivedDelivery) => number): Promise<LocalReceiver> {
  const server = createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    respond(request, response, onDelivery).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  }).catch((error: unknown) => {
    const reason = errorCode(error) === "EADDRINUSE" ? "the port is in use" : errorReason(error);
    throw new CommandFailure("port_taken", `Cannot listen on port ${port} of 127.0.0.1: ${reason}.`, {
      cause: error,
      hint: "--port 0 takes any free port",
    });
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        // Senders keep idle connections open.
        server.closeAllConnections();
      }),
  };
}

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
