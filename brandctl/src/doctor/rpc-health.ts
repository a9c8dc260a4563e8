import { AppError } from "@brand-records/errors";
import { connectRpc, newCallContext, type CallContext, type RpcClient } from "@brand-records/rpc";
import { service as healthService } from "grpc-health-check";
import type { Endpoint, TlsFiles } from "../connection/endpoints.ts";
import { explainUnreachable, hintFor } from "../connection/explain-unreachable.ts";
import { CommandFailure } from "../failure.ts";
import { hostAndPortOf, requireConnection, silenceAfter, Unreachable } from "./reachability.ts";

interface HealthClient {
  readonly Check: (request: { service: string }, context: CallContext) => Promise<{ readonly status: string }>;
  stop(): void;
}

/** Calls grpc.health.v1. @throws CommandFailure if it cannot be reached, AppError if it is not serving */
export async function checkRpcHealth(endpoint: Endpoint, config: TlsFiles, deadlineMs: number, signal: AbortSignal): Promise<void> {
  await requireReachable(endpoint, signal);
  const client = connectRpc(healthService, endpoint.address, { config }) as RpcClient<object> as unknown as HealthClient;
  try {
    const { status } = await client.Check({ service: "" }, { ...newCallContext(deadlineMs), signal });
    if (status !== "SERVING") throw new AppError("unavailable", `${endpoint.name} at ${endpoint.address} reports ${status}.`);
  } catch (error) {
    const failure = explainUnreachable(error, endpoint, config, "");
    const isSilent = failure instanceof CommandFailure && failure.code === "timeout" && hostAndPortOf(endpoint.address) !== undefined;
    if (!isSilent) throw failure;
    throw new CommandFailure("timeout", `${nameOf(endpoint)} did not respond in time: ${silenceAfter(deadlineMs)}.`, {
      cause: failure,
      hint: `Is ${endpoint.name} short of CPU, does it wait for a slow database, or is it frozen? Its log and its metrics say more.`,
    });
  } finally {
    client.stop();
  }
}

const nameOf = ({ name, address, from }: Endpoint): string => `${name} at ${address} (${from})`;

/**
 * Connects before grpc-js does, which goes on for two minutes with a connection that a firewall swallows, also if it is stopped. What
 * else is wrong, the call says.
 */
async function requireReachable(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
  const target = hostAndPortOf(endpoint.address);
  if (target === undefined) return;
  await requireConnection(target, signal).catch((error: unknown) => {
    if (!(error instanceof Unreachable)) return;
    throw new CommandFailure("unavailable", `${nameOf(endpoint)} cannot be reached: ${error.message}?`, { hint: hintFor(endpoint) });
  });
}
