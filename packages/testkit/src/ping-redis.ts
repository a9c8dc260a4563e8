import { connect } from "node:net";

const ANSWER_MS = 2_000;

/** Resolves when the Redis on that loopback port answers (one that wants a password refuses: it runs); rejects after two seconds. */
export function pingRedis(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, timeout: ANSWER_MS });
    const settle = (error?: Error): void => {
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    socket.once("error", settle);
    socket.once("close", () => reject(new Error(`port ${port} closed the connection`)));
    socket.once("timeout", () => settle(new Error(`port ${port} does not answer`)));
    socket.once("data", (answer) =>
      settle(/^(\+PONG|-NOAUTH)/.test(answer.toString()) ? undefined : new Error(`port ${port} answers ${answer.toString()}`)),
    );
    socket.write("PING\r\n");
  });
}
