import { connect } from "node:net";

const ANSWER_MS = 2_000;
const METADATA = { key: 3, version: 1 } as const;
const NO_TOPICS = Buffer.alloc(4);

/** A request of Kafka's protocol: its API's key, a version without tagged fields, and the encoded body. */
export interface KafkaRequest {
  readonly key: number;
  readonly version: number;
  readonly body: Buffer;
}

/** The body of what the broker on that loopback port answers. Rejects when it does not within two seconds. */
export function requestKafka(port: number, { key, version, body }: KafkaRequest): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host: "127.0.0.1", port });
    const timer = setTimeout(() => socket.destroy(new Error(`port ${port} does not answer`)), ANSWER_MS);
    socket.once("error", reject);
    socket.once("close", () => {
      clearTimeout(timer);
      reject(new Error(`port ${port} closed the connection`));
    });
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      const answer = Buffer.concat(chunks);
      if (answer.length < 8 || answer.length < 4 + answer.readInt32BE(0)) return;
      // Behind its length and the correlation id.
      resolve(answer.subarray(8));
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
 * Resolves when the broker on that loopback port takes part in its cluster, so that topics can be created: before, it
 * answers already, but without naming itself.
 */
export async function pingKafka(port: number): Promise<void> {
  const answer = await requestKafka(port, { ...METADATA, body: NO_TOPICS });
  if (answer.readInt32BE(0) !== 1) throw new Error(`the broker on port ${port} has not joined its cluster`);
  const hostLength = answer.readInt16BE(8);
  const named = answer.readInt32BE(10 + hostLength);
  if (named !== port) throw new Error(`on port ${port} a broker answers that is reached on ${named}`);
}
