export interface RunningClients<Result> {
  /** In order of the responses. */
  readonly results: readonly Result[];
  /** Sends nothing more, and resolves with all results once the last response is there. */
  stop(): Promise<readonly Result[]>;
}

/** Starts clients that each send one request after another, until they are stopped. @param send is given the client's number */
export function startClients<Result>(count: number, send: (client: number) => Promise<Result>): RunningClients<Result> {
  const results: Result[] = [];
  let isStopping = false;
  const run = async (client: number): Promise<void> => {
    while (!isStopping) results.push(await send(client));
  };
  const running = Promise.all(Array.from({ length: count }, (_, client) => run(client)));
  return {
    results,
    async stop() {
      isStopping = true;
      await running;
      return results;
    },
  };
}
