import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface ReceivedRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ReceiverServer {
  /** Ends with a slash: each path is a receiver. */
  readonly url: string;
  /** In order of arrival. A test may empty it. */
  readonly requests: ReceivedRequest[];
  stop(): void;
}

/**
 * Starts a server for receivers.
 *
 * @param respond returns the status, and the body if there is one; undefined: it responds itself, or later
 */
export async function startReceivers(
  respond: (request: ReceivedRequest, response: ServerResponse) => readonly [status: number, body?: string] | undefined = () => [204],
): Promise<ReceiverServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((incoming, response) => {
    void buffer(incoming).then((body) => {
      const request = { url: incoming.url ?? "", headers: incoming.headers, body: body.toString() };
      requests.push(request);
      const [status, text] = respond(request, response) ?? [];
      if (status !== undefined) response.writeHead(status).end(text);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
