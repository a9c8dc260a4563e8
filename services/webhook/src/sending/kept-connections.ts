import type { Socket } from "node:net";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
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

/**
 * Recognises requests that failed because the server closed a kept-alive connection just as it was used: the connection had
 * carried a response before, and no byte of the next one arrived. RFC 9112 §9.3.1 allows sending such a request again.
 */
export class KeptConnections {
  /** Bytes received on a connection when the last request was written to it. */
  readonly #bytesBefore = new WeakMap<Socket, number>();
  readonly #closedInUse = new WeakSet<object>();

  readonly stop = onRequestSent((socket) => {
    if (this.#bytesBefore.has(socket)) this.#bytesBefore.set(socket, socket.bytesRead);
  });

  /** Watches a connection. Call it before the first request. */
  watch(socket: Socket): void {
    this.#bytesBefore.set(socket, 0);
    // undici rejects the request with this error object.
    socket.once("error", (error: Error) => {
      const before = this.#bytesBefore.get(socket) ?? 0;
      if (before > 0 && socket.bytesRead === before) this.#closedInUse.add(error);
    });
  }

  /** @param error with which a request was rejected */
  wasClosedInUse(error: unknown): boolean {
    return typeof error === "object" && error !== null && this.#closedInUse.has(error);
  }
}
