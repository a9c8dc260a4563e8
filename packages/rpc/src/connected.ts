import { connectivityState, type Client } from "@grpc/grpc-js";

/** As long as a process may wait for its connections before it says that it is ready. */
export const CONNECT_MS = 2_000;

/**
 * Connects a client that would connect with its first call. Resolves once it has connected or failed to, or after CONNECT_MS: later calls
 * connect it then.
 */
export function connected(client: Client): Promise<void> {
  const channel = client.getChannel();
  const deadline = Date.now() + CONNECT_MS;
  return new Promise((resolve) => {
    const look = (): void => {
      const state = channel.getConnectivityState(true);
      if (state !== connectivityState.IDLE && state !== connectivityState.CONNECTING) return resolve();
      channel.watchConnectivityState(state, deadline, (error) => (error === undefined ? look() : resolve()));
    };
    look();
  });
}
