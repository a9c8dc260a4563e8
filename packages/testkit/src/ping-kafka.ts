import { connect } from "node:net";

const RESPONSE_MS_MAX = 2_000;

/** A request for metadata (3) in version 1, whose messages have no tagged fields, of no topic. */
const METADATA_REQUEST = (() => {
  const request = Buffer.alloc(18);
  request.writeInt32BE(request.length - 4, 0);
  request.writeInt16BE(3, 4);
  request.writeInt16BE(1, 6);
  request.writeInt16BE(-1, 12); // No client id.
  return request;
})();

/**
 * Resolves if the broker on a loopback port has joined its cluster, so that topics can be created. Rejects before that: the
 * broker responds, but does not list itself as a broker. Rejects after two seconds.
 */
export async function pingKafka(port: number): Promise<void> {
  const response = await requestMetadata(port);
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

function requestMetadata(port: number): Promise<Buffer> {
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
    socket.write(METADATA_REQUEST);
  });
}
