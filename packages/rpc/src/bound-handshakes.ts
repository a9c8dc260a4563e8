import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/** A handshake takes milliseconds; this leaves room for busy cores. Node waits 120 s. */
const HANDSHAKE_MS = 10_000;
/** Handshakes of one port under way: all callers of an installation at once, and more. */
const HANDSHAKES_MAX = 256;

/** A server of node:https or node:http2. */
interface TlsServer {
  on(event: "connection", listener: (socket: Socket) => void): unknown;
  on(event: "secureConnection", listener: (socket: TLSSocket) => void): unknown;
}

/**
 * Closes a connection whose handshake takes too long and, beyond a number of handshakes under way, the one that began first: in a flood of
 * connections that send nothing, those of callers go on. Without it 400 of them stayed, and nothing bounded how many more would.
 *
 * @returns closes those whose handshake is under way, for a stop: they would hold it up
 */
export function boundHandshakes(server: TlsServer, { ms, max } = { ms: HANDSHAKE_MS, max: HANDSHAKES_MAX }): () => void {
  const underWay = new Map<string, Socket>();
  server.on("connection", (socket) => {
    const peer = peerOf(socket);
    const [first] = underWay.values();
    if (underWay.size >= max) first?.destroy();
    underWay.set(peer, socket);
    const isUnderWay = (): boolean => underWay.get(peer) === socket;
    const timer = setTimeout(() => isUnderWay() && socket.destroy(), ms).unref();
    socket.once("close", () => {
      clearTimeout(timer);
      if (isUnderWay()) underWay.delete(peer);
    });
  });
  server.on("secureConnection", (socket) => underWay.delete(peerOf(socket)));
  return () => underWay.forEach((socket) => socket.destroy());
}

/** The socket of TLS is another than that of its connection, and has the same peer. */
const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
