import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { serveRpc, type ServedService } from "@brand-records/rpc";
import { openLog, Registry } from "@brand-records/telemetry";

export interface Served {
  readonly address: string;
  stop(): Promise<void>;
}

/** Serves gRPC on a free port, as services do. */
export async function serve(...services: ServedService[]): Promise<Served> {
  const config = { RPC_HOST: "127.0.0.1", RPC_PORT: 0, RPC_OPERATOR_WITHOUT_TLS: "true" } as const;
  const { port, stop } = await serveRpc({ config, services, log: openLog("test", "silent"), metrics: new Registry() });
  return { address: `127.0.0.1:${port}`, stop };
}

export interface CuttableProxy extends Served {
  /** Breaks every connection, as when a process is killed. */
  cut(): void;
}

/** Starts a TCP proxy to `address` that can be cut. */
export async function proxyTo(address: string): Promise<CuttableProxy> {
  const [host = "", port = "0"] = address.split(":");
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), host);
    for (const socket of [near, far]) {
      sockets.add(socket);
      // The cut is intended: both ends see their connection close.
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, cut, stop: async () => cut() };
}
