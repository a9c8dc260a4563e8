import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceiverServer {
  urlOf(behavior: Behavior): string;
  stop(): void;
}

/** How a receiver on this path responds to the given attempt. */
const BEHAVIORS = {
  accepts: (response) => void response.writeHead(200, { "content-type": "application/json" }).end('{"stored":true}'),
  fails: (response) => void response.writeHead(500, { "content-type": "text/plain" }).end("connection to db-replica-2 refused\n"),
  fails_too: (response) => void response.writeHead(502, { "content-type": "text/html" }).end("<html><h1>502 Bad Gateway</h1></html>\n"),
  gone: (response) => void response.writeHead(410).end(),
  /** A delivery whose attempts each end in another way. */
  recovers(response, attempt) {
    if (attempt === 1) response.writeHead(503, { "retry-after": "1" }).end("Deploying, back soon\n");
    else if (attempt === 2) response.destroy();
    else if (attempt >= 4) response.writeHead(200).end("ok\n");
    // The third attempt gets no response.
  },
} as const satisfies Record<string, (response: ServerResponse, attempt: number) => void>;

export type Behavior = keyof typeof BEHAVIORS;

/** Starts receivers on one port of this machine, distinguished by path. */
export async function startReceiverServer(): Promise<ReceiverServer> {
  const server = createServer((request, response) => {
    request.resume();
    const behavior = request.url?.slice(1) as Behavior;
    BEHAVIORS[behavior](response, Number(request.headers["x-service-attempt"]));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (behavior) => `http://127.0.0.1:${port}/${behavior}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
