import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { CommandFailure } from "./command-failure.ts";
import { errorCode, errorReason } from "./terminal/error-reason.ts";

export interface Listening {
  /** Such as `http://127.0.0.1:8787/`. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Lets a server listen on this machine. @param port 0 takes any free one @throws CommandFailure `port_taken` */
export async function listenOn(server: Server, port: number, host = "127.0.0.1"): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  }).catch((error: unknown) => {
    const reason = errorCode(error) === "EADDRINUSE" ? "the port is in use" : errorReason(error);
    throw new CommandFailure("port_taken", `Cannot listen on port ${port} of ${host}: ${reason}.`, {
      cause: error,
      hint: "--port 0 takes any free port",
    });
  });
  const { address, family, port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${bound}/`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        // Senders keep idle connections open.
        server.closeAllConnections();
      }),
  };
}
