import { AppError } from "@brand-records/errors";
import { connectRpc, newCallContext, type CallContext, type RpcClient } from "@brand-records/rpc";
import { service as healthService } from "grpc-health-check";
import type { Endpoint, TlsFiles } from "../connection/endpoints.ts";
import { explainUnreachable } from "../connection/explain-unreachable.ts";
import { CommandFailure } from "../failure.ts";
import { hostAndPortOf, requireConnection, silenceAfter, Unreachable } from "./reachability.ts";

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
    const failure = explainUnreachable(error, endpoint, config, "");
    const isSilent = failure instanceof CommandFailure && failure.code === "timeout";
    throw isSilent ? await explainSilence(failure, endpoint, deadlineMs, signal) : failure;
  } finally {
    client.stop();
  }
}

/** Says whether a process that did not respond in time is there. */
async function explainSilence(failure: CommandFailure, endpoint: Endpoint, deadlineMs: number, signal: AbortSignal): Promise<Error> {
  const target = hostAndPortOf(endpoint.address);
  if (target === undefined) return failure;
  const where = `${endpoint.name} at ${endpoint.address} (${endpoint.from})`;
  try {
    await requireConnection(target, signal);
  } catch (error) {
    if (!(error instanceof Unreachable)) return failure;
    return new CommandFailure("unavailable", `${where} cannot be reached: ${error.message}?`, { cause: failure, hint: failure.hint });
  }
  const hint = `Is ${endpoint.name} short of CPU, does it wait for a slow database, or is it frozen? Its log and its metrics say more.`;
  return new CommandFailure("timeout", `${where} did not respond in time: ${silenceAfter(deadlineMs)}.`, { cause: failure, hint });
}
