import { AppError } from "@brand-records/errors";
import { connectRpc, type RpcClient } from "@brand-records/rpc";
import { service as healthService } from "grpc-health-check";
import { callContext } from "../connection/clients.ts";
import type { Endpoint, TlsFiles } from "../connection/endpoints.ts";
import { explainUnreachable } from "../connection/explain-unreachable.ts";

interface HealthClient {
  readonly Check: (request: { service: string }, context: ReturnType<typeof callContext>) => Promise<{ readonly status: string }>;
  stop(): void;
}

/** Asks grpc.health.v1. @throws what explains why there is no good answer */
export async function checkRpcHealth(endpoint: Endpoint, config: TlsFiles, deadlineMs: number, signal: AbortSignal): Promise<void> {
  const client = connectRpc(healthService, endpoint.address, { config, idempotent: [] }) as RpcClient<object> as unknown as HealthClient;
  try {
    const { status } = await client.Check({ service: "" }, callContext(deadlineMs, signal));
    if (status !== "SERVING") throw new AppError("unavailable", `${endpoint.name} at ${endpoint.address} says that it is ${status}.`);
  } catch (error) {
    throw explainUnreachable(error, endpoint, "");
  } finally {
    client.stop();
  }
}
