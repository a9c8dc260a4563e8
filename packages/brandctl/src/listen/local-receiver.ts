import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CommandFailure } from "../failure.ts";
import { errorCode, errorReason } from "../output/error-reason.ts";
import type { ReceivedDelivery } from "./verify-delivery.ts";

/** Ours have 20 KiB at most. */
export const BODY_BYTES_MAX = 1024 * 1024;
const REQUEST_MS = 30_000;

export interface LocalReceiver {
  /** Where it listens: `http://127.0.0.1:8787/` */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * An HTTP server that only this machine reaches.
 *
 * @param onDelivery answers the status; it is called with every POST that was read to its end
 * @throws CommandFailure when the port is taken
 */
export async function startLocalReceiver(port: number, onDelivery: (delivery: ReceivedDelivery) => number): Promise<LocalReceiver> {
  const server = createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    answer(request, response, onDelivery).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  }).catch((error: unknown) => {
    const why = errorCode(error) === "EADDRINUSE" ? "something listens there already" : errorReason(error);
    throw new CommandFailure("port_taken", `Port ${port} of 127.0.0.1 cannot be listened on: ${why}.`, {
      cause: error,
      hint: "--port 0 takes any that is free",
    });
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        // Senders keep their connections for the next delivery.
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  onDelivery: (delivery: ReceivedDelivery) => number,
): Promise<void> {
  if (request.method !== "POST") return void response.writeHead(405, { allow: "POST" }).end();
  const body = await readBody(request);
  if (body === undefined) return void response.writeHead(413, { connection: "close" }).end();
  response.writeHead(onDelivery({ headers: request.headers, body })).end();
}

/** Undefined if it is too large: the rest is not kept. */
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
