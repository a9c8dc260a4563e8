import { AppError } from "@brand-records/errors";
import { connectRpc, newCallContext, type CallContext, type RpcClient } from "@brand-records/rpc";
import { service as healthService } from "grpc-health-check";
import type { Endpoint, TlsFiles } from "../connection/endpoints.ts";
import { explainUnreachable } from "../connection/explain-unreachable.ts";

interface HealthClient {
  readonly Check: (request: { service: string }, context: CallContext) => Promise<{ readonly status: string }>;
  stop(): void;
}

/** Calls grpc.health.v1. @throws CommandFailure if it cannot be reached, AppError if it is not serving */
export async function checkRpcHealth(endpoint: Endpoint, config: TlsFiles, deadlineMs: number, signal: AbortSignal): Promise<void> {
  const client = connectRpc(healthService, endpoint.address, { config }) as RpcClient<object> as unknown as HealthClient;
  try {
    const { status } = await client.Check({ service: "" }, { ...newCallContext(deadlineMs), signal });
    if (status !== "SERVING") throw new AppError("unavailable", `${endpoint.name} at ${endpoint.address} reports ${status}.`);
  } catch (error) {
    throw explainUnreachable(error, endpoint, config, "");
  } finally {
    client.stop();
  }
}
