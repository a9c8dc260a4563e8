import { connect } from "node:net";

const ANSWER_MS = 2_000;

/**
 * What a Redis on loopback answers to one inline command: a status, a number or a text.
 *
 * @throws for an error reply, and without an answer within two seconds
 */
export function sendRedisCommand(url: string, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port), timeout: ANSWER_MS });
    let reply = "";
    const settle = (settle: () => void): void => {
      socket.destroy();
      settle();
    };
    socket.once("error", reject);
    socket.once("timeout", () => settle(() => reject(new Error(`${url} does not answer ${command}`))));
    socket.once("close", () => reject(new Error(`${url} closed the connection after ${command}`)));
    socket.on("data", (chunk) => {
      reply += chunk.toString();
      const text = completeText(reply);
      if (text === undefined) return;
      settle(() => (reply.startsWith("-") ? reject(new Error(`${command}: ${text}`)) : resolve(text)));
    });
    socket.write(`${command}\r\n`);
  });
}

/** Undefined while more is to come. */
function completeText(reply: string): string | undefined {
  const end = reply.indexOf("\r\n");
  if (end === -1) return undefined;
  const line = reply.slice(1, end);
  if (!reply.startsWith("$")) return line;
  const text = reply.slice(end + 2);
  const length = Number(line);
  return text.length >= length + 2 ? text.slice(0, length) : undefined;
}
