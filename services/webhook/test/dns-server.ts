import { createSocket } from "node:dgram";
import { once } from "node:events";
import { decode, encode, type Answer } from "dns-packet";

export interface DnsServer {
  /** host:port */
  readonly address: string;
  /** What was asked for, in order. */
  readonly asked: string[];
  stop(): Promise<void>;
}

/**
 * A resolver that answers what it is told.
 *
 * @param answer the addresses of a name, by family; called with each question, so it may answer otherwise next time.
 *   Undefined answers nothing at all.
 */
export async function startDnsServer(answer: (name: string, type: "A" | "AAAA") => readonly string[] | undefined): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (message, { address, port }) => {
    const { id = 0, questions = [] } = decode(message);
    const answers: Answer[] = [];
    for (const { name, type } of questions) {
      if (type !== "A" && type !== "AAAA") continue;
      asked.push(`${name} ${type}`);
      const addresses = answer(name, type);
      if (addresses === undefined) return;
      answers.push(...addresses.map((data) => ({ name, type, data, ttl: 0 })));
    }
    socket.send(encode({ type: "response", id, flags: 0x180, questions, answers }), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
