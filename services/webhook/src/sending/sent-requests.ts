import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { DiagnosticsChannel } from "undici";

/** undici publishes here just before it writes a request. Nothing else reveals which connection a request uses. */
const SEND_HEADERS = "undici:client:sendHeaders";

/**
 * Calls `listener` with the connection of each request, of all agents in this process, just before the request is written: the bytes that
 * follow on the connection begin its response.
 *
 * @returns a function that ends it
 */
export function onRequestSent(listener: (socket: Socket) => void): () => void {
  const receive = (message: unknown): void => listener((message as DiagnosticsChannel.ClientSendHeadersMessage).socket);
  subscribe(SEND_HEADERS, receive);
  return () => void unsubscribe(SEND_HEADERS, receive);
}
