import { readFileSync } from "node:fs";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { CertificateAuthority } from "@brand-records/testkit";

/** A server at localhost, with a certificate, that understands nothing: it counts what clients send it once they trust it. */
export interface TlsListener {
  readonly port: number;
  /** Clients that began to speak TLS. */
  handshakes(): number;
  /** Bytes from clients that went on after they saw the certificate. */
  bytes(): number;
  stop(): Promise<void>;
}

/** The first bytes with which a client asks Postgres for TLS. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

export async function startTlsListener(authority: CertificateAuthority, name: string): Promise<TlsListener> {
  const { cert, key } = authority.issue(name, { names: ["DNS:localhost"] });
  const credentials = { cert: readFileSync(cert), key: readFileSync(key) };
  const sockets = new Set<Socket>();
  let [handshakes, bytes] = [0, 0];
  const startTls = (socket: Socket): void => {
    handshakes += 1;
    const secured = new TLSSocket(socket, { isServer: true, ...credentials });
    secured.on("data", ({ length }: Buffer) => void (bytes += length)).on("error", () => socket.destroy());
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("readable", () => {
      const first = socket.read() as Buffer | null;
      if (first === null) return;
      if (first.subarray(0, SSL_REQUEST.length).equals(SSL_REQUEST)) {
        socket.write("S");
        return startTls(socket);
      }
      socket.unshift(first);
      startTls(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    handshakes: () => handshakes,
    bytes: () => bytes,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
