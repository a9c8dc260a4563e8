import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { DiagnosticsChannel } from "undici";

/** undici publishes here just before it writes a request; nothing else says which connection a request went to. */
const SEND_HEADERS = "undici:client:sendHeaders";

/**
 * Recognises the failure of a request whose kept-alive connection the other side closed just as it was used: the connection
 * had carried an answer before, and no byte of the next one came. RFC 9112 §9.3.1 names it as the case to send again in.
 */
export class KeptConnections {
  /** Bytes that had come on a connection when the last request was written to it. */
  readonly #bytesBefore = new WeakMap<Socket, number>();
  readonly #closedInUse = new WeakSet<object>();

  constructor() {
    subscribe(SEND_HEADERS, this.#onRequest);
  }

  /** For every connection, before the first request. */
  watch(socket: Socket): void {
    this.#bytesBefore.set(socket, 0);
    // undici fails the request with this very error.
    socket.once("error", (error: Error) => {
      const before = this.#bytesBefore.get(socket) ?? 0;
      if (before > 0 && socket.bytesRead === before) this.#closedInUse.add(error);
    });
  }

  /** @param error what a request was rejected with */
  wasClosedInUse(error: unknown): boolean {
    return typeof error === "object" && error !== null && this.#closedInUse.has(error);
  }

  stop(): void {
    unsubscribe(SEND_HEADERS, this.#onRequest);
  }

  readonly #onRequest = (message: unknown): void => {
    const { socket } = message as DiagnosticsChannel.ClientSendHeadersMessage;
    // Connections of others in this process are published too.
    if (this.#bytesBefore.has(socket)) this.#bytesBefore.set(socket, socket.bytesRead);
  };
}
