import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { eventually } from "./eventually.ts";
import { ProxiedConnection, type ProxyFaults } from "./proxied-connection.ts";

export interface TcpProxy {
  /** On 127.0.0.1; the same for the proxy's whole life. */
  readonly port: number;
  /** Resets the connections there are and refuses new ones, as when the other side is down. */
  cut(): Promise<void>;
  /** Accepts and forwards nothing, in either direction, as when packets get lost. They arrive after `heal`. */
  blackhole(): Promise<void>;
  /** Forwards whatever arrives from now on that much later, in each direction, in order. */
  delay(milliseconds: number): void;
  /** Forwards at once again, also on connections that outlived the trouble, and accepts new ones. */
  heal(): Promise<void>;
  stop(): Promise<void>;
}

/** A proxy before `host:port` that fails on demand the way networks do. Each promise resolves when it is so. */
export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const state: ProxyFaults = { blackholed: false, delayMs: 0 };
  const lines = new Set<ProxiedConnection>();
  const accept = (client: Socket): void => {
    const line = new ProxiedConnection(client, connect({ ...target, allowHalfOpen: true, noDelay: true }), state);
    lines.add(line);
    line.onClose(() => lines.delete(line));
  };
  let server = await listen(accept, 0);
  const { port } = server.address() as AddressInfo;

  const accepting = async (): Promise<void> => {
    // The port was free for everybody while the line was cut.
    if (!server.listening) server = await eventually(() => listen(accept, port));
  };
  const cut = async (): Promise<void> => {
    const closed = server.listening ? once(server, "close") : undefined;
    server.close();
    for (const line of lines) line.reset();
    await closed;
  };
  return {
    port,
    cut,
    async blackhole() {
      await accepting();
      state.blackholed = true;
      for (const line of lines) line.stall();
    },
    delay: (milliseconds) => void (state.delayMs = milliseconds),
    async heal() {
      await accepting();
      state.blackholed = false;
      state.delayMs = 0;
      for (const line of lines) line.resume();
    },
    stop: cut,
  };
}

async function listen(accept: (client: Socket) => void, port: number): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, accept).listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}
