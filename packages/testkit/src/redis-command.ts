import { connect } from "node:net";

const REPLY_MS_MAX = 2_000;

interface Reply {
  readonly isError: boolean;
  readonly text: string;
}

/**
 * Sends one inline command to a Redis on loopback and returns its reply: a status, a number or a string.
 *
 * @throws for an error reply, and without a reply within two seconds
 */
export async function sendRedisCommand(url: string, command: string): Promise<string> {
  const { isError, text } = await exchange(url, command);
  if (isError) throw new Error(`${command}: ${text}`);
  return text;
}

/** Resolves when Redis responds. One that requires a password responds with NOAUTH: it runs. */
export async function pingRedis(url: string): Promise<void> {
  const { text } = await exchange(url, "PING");
  if (!/^(PONG|NOAUTH)/.test(text)) throw new Error(`${url} replied to PING with ${text}`);
}

function exchange(url: string, command: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port), timeout: REPLY_MS_MAX });
    let received = "";
    socket.once("error", reject);
    socket.once("timeout", () => socket.destroy(new Error(`${url} sent no reply to ${command}`)));
    socket.once("close", () => reject(new Error(`${url} closed the connection after ${command}`)));
    socket.on("data", (chunk) => {
      received += chunk.toString();
      const text = completeText(received);
      if (text === undefined) return;
      resolve({ isError: received.startsWith("-"), text });
      socket.destroy();
    });
    socket.write(`${command}\r\n`);
  });
}

/** Returns undefined until the whole reply has arrived. */
function completeText(reply: string): string | undefined {
  const end = reply.indexOf("\r\n");
  if (end === -1) return undefined;
  const line = reply.slice(1, end);
  if (!reply.startsWith("$")) return line;
  const text = reply.slice(end + 2);
  const length = Number(line);
  return text.length >= length + 2 ? text.slice(0, length) : undefined;
}
