import { once } from "node:events";
import { connect } from "node:net";

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Sends bytes that no HTTP client would send. Reads until the response is complete or the server closes the connection.
 *
 * @param pieces are written one after another, each once the previous one is flushed
 */
export async function rawRequest(url: string, pieces: Iterable<string | Buffer> | AsyncIterable<string | Buffer>): Promise<RawResponse> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const received: Buffer[] = [];
  const completed = new Promise<void>((resolve, reject) => {
    socket.on("data", (chunk: Buffer) => {
      received.push(chunk);
      if (isComplete(Buffer.concat(received).toString("latin1"))) resolve();
    });
    socket.on("close", () => resolve());
    socket.on("error", (error: NodeJS.ErrnoException) => (received.length > 0 ? resolve() : reject(error)));
  });
  const send = async (): Promise<void> => {
    for await (const piece of pieces) {
      if (socket.destroyed || socket.writableEnded) return;
      await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
    }
  };
  await Promise.race([completed, send().then(() => completed)]);
  socket.destroy();
  return parse(Buffer.concat(received).toString());
}

/**
 * Sends bytes and returns everything received until the server closes the connection.
 *
 * @param halfClose ends the client's side after the bytes, but keeps reading
 */
export async function untilClosed(url: string, bytes: string, { halfClose = false } = {}): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname, () => (halfClose ? socket.end(bytes) : socket.write(bytes)));
  const received: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => received.push(chunk));
  await once(socket, "close");
  return Buffer.concat(received).toString();
}

function isComplete(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  const [, length] = /content-length: (\d+)/i.exec(text) ?? [];
  return end >= 0 && length !== undefined && text.length >= end + 4 + Number(length);
}

function parse(text: string): RawResponse {
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return { status: Number(statusLine.split(" ")[1]), headers, body: text.slice(end + 4) };
}
