import { connect } from "node:net";

const RESPONSE_MS_MAX = 2_000;
const METADATA = { key: 3, version: 1 } as const;
const NO_TOPICS = Buffer.alloc(4);

/** A request in Kafka's protocol. */
interface KafkaRequest {
  /** The number of the requested API. */
  readonly key: number;
  /** The version of the API: one whose messages have no tagged fields. */
  readonly version: number;
  /** The encoded fields of the request. */
  readonly body: Buffer;
}

/** Sends a request to the broker on a loopback port and returns the response's body. Rejects after two seconds. */
export function requestKafka(port: number, { key, version, body }: KafkaRequest): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host: "127.0.0.1", port });
    const timer = setTimeout(() => socket.destroy(new Error(`port ${port} does not respond`)), RESPONSE_MS_MAX);
    socket.once("error", reject);
    socket.once("close", () => {
      clearTimeout(timer);
      reject(new Error(`port ${port} closed the connection`));
    });
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      const response = Buffer.concat(chunks);
      if (response.length < 8 || response.length < 4 + response.readInt32BE(0)) return;
      // The body follows the length and the correlation id.
      resolve(response.subarray(8));
      socket.destroy();
    });
    const header = Buffer.alloc(14);
    header.writeInt32BE(10 + body.length, 0);
    header.writeInt16BE(key, 4);
    header.writeInt16BE(version, 6);
    header.writeInt16BE(-1, 12); // No client id.
    socket.write(Buffer.concat([header, body]));
  });
}

/**
 * Resolves if the broker on a loopback port has joined its cluster, so that topics can be created. Rejects before that: the
 * broker responds, but does not list itself as a broker.
 */
export async function pingKafka(port: number): Promise<void> {
  const response = await requestKafka(port, { ...METADATA, body: NO_TOPICS });
  const ports: number[] = [];
  let at = 4;
  for (let brokers = response.readInt32BE(0); brokers > 0; brokers -= 1) {
    // Id, host, port, rack.
    at += 4 + 2 + response.readInt16BE(at + 4);
    ports.push(response.readInt32BE(at));
    at += 4 + 2 + Math.max(0, response.readInt16BE(at + 4));
  }
  if (!ports.includes(port))
    throw new Error(`the broker on port ${port} has not joined its cluster, which has ${ports.join(", ") || "none"}`);
}
