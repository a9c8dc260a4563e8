import { createSocket } from "node:dgram";
import { once } from "node:events";
import { decode, encode, type Answer } from "dns-packet";

export interface DnsServer {
  /** host:port */
  readonly address: string;
  readonly port: number;
  /** Every question, in order. */
  readonly questions: string[];
  stop(): Promise<void>;
}

/**
 * Starts a DNS server on loopback. Nothing may be cached.
 *
 * @param lookup returns the addresses of a name, by family. It is called for each question, so it may return others the next
 *   time. Undefined sends no response.
 */
export async function startDnsServer(lookup: (name: string, type: "A" | "AAAA") => readonly string[] | undefined): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const received: string[] = [];
  socket.on("message", (message, { address, port }) => {
    const { id = 0, questions = [] } = decode(message);
    const answers: Answer[] = [];
    for (const { name, type } of questions) {
      if (type !== "A" && type !== "AAAA") continue;
      received.push(`${name} ${type}`);
      const addresses = lookup(name, type);
      if (addresses === undefined) return;
      answers.push(...addresses.map((data) => ({ name, type, data, ttl: 0 })));
    }
    socket.send(encode({ type: "response", id, flags: 0x180, questions, answers }), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  return {
    address: `127.0.0.1:${port}`,
    port,
    questions: received,
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
