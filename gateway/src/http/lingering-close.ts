import type { Socket } from "node:net";

/** Bytes that are read and dropped after the connection's last response. */
const LINGER_BYTES_MAX = 256 * 1024;
const LINGER_MS = 2_000;

/**
 * Closes a connection whose client may still be sending. Our side ends when everything written has been sent. Until the client
 * ends its side, bytes that arrive are dropped. After 256 KiB nothing more is read; after 2 s the connection is destroyed.
 * An immediate close with unread bytes would be a reset, which can overtake the response.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-9.6
 */
export function closeLingering(socket: Socket): void {
  if (socket.destroyed || socket.writableEnded) return;
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
  // The parser gets nothing more: the bytes that follow belong to no request.
  socket.removeAllListeners("data");
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES_MAX) socket.pause();
  });
  socket.end();
  socket.resume();
}
