import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { eventually } from "./eventually.ts";
import { ProxiedConnection, type ProxyFaults } from "./proxied-connection.ts";

export interface TcpProxy {
  /** Never changes. */
  readonly port: number;
  /** Resets open connections and refuses new ones, as when the other side is down. */
  cut(): Promise<void>;
  /** Accepts connections but forwards nothing in either direction, as when packets are lost. The bytes arrive after `heal`. */
  blackhole(): Promise<void>;
  /** Delays the bytes that arrive from now on, in each direction, and keeps their order. */
  delay(milliseconds: number): void;
  /** Forwards immediately again, also on connections that survived the fault, and accepts new ones. */
  heal(): Promise<void>;
  stop(): Promise<void>;
}

interface TcpAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Starts a proxy in front of `target` that fails on demand as networks do. Each promise resolves when the fault is in effect.
 *
 * @param own where it listens. Default: any port of 127.0.0.1
 */
export async function startTcpProxy(target: TcpAddress, own: TcpAddress = { host: "127.0.0.1", port: 0 }): Promise<TcpProxy> {
  const faults: ProxyFaults = { blackholed: false, delayMs: 0 };
  const connections = new Set<ProxiedConnection>();
  const accept = (client: Socket): void => {
    const connection = new ProxiedConnection(client, connect({ ...target, allowHalfOpen: true, noDelay: true }), faults);
    connections.add(connection);
    connection.onClose(() => connections.delete(connection));
  };
  let server = await listen(accept, own);
  const { port } = server.address() as AddressInfo;

  const reopen = async (): Promise<void> => {
    // Another process may have taken the port while the proxy was cut.
    if (!server.listening) server = await eventually(() => listen(accept, { host: own.host, port }));
  };
  const cut = async (): Promise<void> => {
    const closed = server.listening ? once(server, "close") : undefined;
    server.close();
    for (const connection of connections) connection.reset();
    await closed;
  };
  return {
    port,
    cut,
    async blackhole() {
      await reopen();
      faults.blackholed = true;
      for (const connection of connections) connection.stall();
    },
    delay: (milliseconds) => void (faults.delayMs = milliseconds),
    async heal() {
      await reopen();
      faults.blackholed = false;
      faults.delayMs = 0;
      for (const connection of connections) connection.resume();
    },
    stop: cut,
  };
}

async function listen(accept: (client: Socket) => void, { host, port }: TcpAddress): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, accept).listen(port, host);
  await once(server, "listening");
  return server;
}
