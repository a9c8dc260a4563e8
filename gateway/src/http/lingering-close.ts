import type { Socket } from "node:net";

/** What a client may still send after its last answer; it is read and dropped. */
const LINGER_BYTES_MAX = 256 * 1024;
const LINGER_MS = 2_000;

/**
 * Closes a connection whose client may still be sending. Our side ends once everything written has left; what arrives
 * until the client ends its side is dropped, up to 256 KiB and 2 s. Closed at once, unread bytes would turn the close
 * into a reset, which can overtake the answer.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-9.6
 */
export function closeLingering(socket: Socket): void {
  if (socket.destroyed || socket.writableEnded) return;
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
  // The parser gets nothing more: what follows is no request any more.
  socket.removeAllListeners("data");
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES_MAX) socket.pause();
  });
  socket.end();
  socket.resume();
}
