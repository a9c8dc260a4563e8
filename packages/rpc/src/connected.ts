import { connectivityState, type Client } from "@grpc/grpc-js";

/** As long as a process may wait for its connections before it says that it is ready. */
const CONNECT_MS = 2_000;
const CONNECT_AGAIN_MS = 1_000;

/**
 * Connects a client that would connect with its first call. Resolves once it has connected or failed to, or after CONNECT_MS, and goes on in
 * the background until it has connected or was closed.
 */
export function connected(client: Client): Promise<void> {
  const channel = client.getChannel();
  const deadline = Date.now() + CONNECT_MS;
  keepConnecting(client);
  return new Promise((resolve) => {
    const look = (): void => {
      const state = channel.getConnectivityState(false);
      if (state !== connectivityState.IDLE && state !== connectivityState.CONNECTING) return resolve();
      channel.watchConnectivityState(state, deadline, (error) => (error === undefined ? look() : resolve()));
    };
    look();
  });
}

/** grpc-js looks an unknown name up again only with the next call, which fails: a method that is not retried must not be that call. */
function keepConnecting(client: Client): void {
  const channel = client.getChannel();
  channel.getConnectivityState(true);
  const timer = setInterval(() => {
    const state = channel.getConnectivityState(false);
    // To a closed channel, "connect" opens it.
    if (state === connectivityState.READY || state === connectivityState.SHUTDOWN) clearInterval(timer);
    else channel.getConnectivityState(true);
  }, CONNECT_AGAIN_MS).unref();
}
