import { randomUUID } from "node:crypto";
import { AccountsServiceService } from "@brand-records/proto/accounts/v1";
import { ImportServiceService } from "@brand-records/proto/records/v1";
import { connectRpc, traceparentFrom, type CallContext, type RpcClient } from "@brand-records/rpc";
import type { Endpoint, TlsFiles } from "./endpoints.ts";
import { explainUnreachable } from "./explain-unreachable.ts";

/** For a question and its answer; an import has a deadline of its own. */
const ANSWER_MS = 15_000;

/** Asks the accounts service, with a deadline, until `signal` aborts. Errors say where the question was going. */
export type AccountsClient = {
  [Name in keyof AccountsServiceService]: (
    request: Parameters<RpcClient<AccountsServiceService>[Name]>[0],
  ) => ReturnType<RpcClient<AccountsServiceService>[Name]>;
} & { stop(): void };

export type ImportClient = RpcClient<ImportServiceService>;

export function connectAccounts(endpoint: Endpoint, config: TlsFiles, signal: AbortSignal): AccountsClient {
  const client = connectRpc(AccountsServiceService, endpoint.address, {
    config,
    idempotent: ["getBrand", "listBrands", "listMembers", "listKeys", "setBrandTier", "setBrandVerified", "addMember", "revokeKey"],
  });
  const calls: Record<string, unknown> = { stop: () => client.stop() };
  for (const name of Object.keys(AccountsServiceService) as (keyof AccountsServiceService)[]) {
    const call = client[name] as (request: unknown, context: CallContext) => Promise<unknown>;
    calls[name] = async (request: unknown): Promise<unknown> => {
      signal.throwIfAborted();
      try {
        return await call(request, callContext(ANSWER_MS, signal));
      } catch (error) {
        throw explainUnreachable(error, endpoint);
      }
    };
  }
  return calls as AccountsClient;
}

export function connectImporting(endpoint: Endpoint, config: TlsFiles): ImportClient {
  return connectRpc(ImportServiceService, endpoint.address, { config, idempotent: [] });
}

export function callContext(deadlineMs: number, signal?: AbortSignal): CallContext {
  return {
    requestId: randomUUID(),
    traceparent: traceparentFrom(undefined),
    deadline: Date.now() + deadlineMs,
    ...(signal !== undefined && { signal }),
  };
}
