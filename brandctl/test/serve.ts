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
