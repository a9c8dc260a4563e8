import { randomUUID } from "node:crypto";
import { AccountsServiceService } from "@brand-records/proto/accounts/v1";
import { PlansServiceService } from "@brand-records/proto/plans/v1";
import { ImportServiceService } from "@brand-records/proto/records/v1";
import { DeliveriesServiceService, EventsServiceService, ReceiversServiceService } from "@brand-records/proto/webhook/v1";
import { connectRpc, traceparentFrom, type CallContext, type RpcClient } from "@brand-records/rpc";
import type { Endpoint, TlsFiles } from "./endpoints.ts";
import { explainUnreachable } from "./explain-unreachable.ts";

/** For a question and its answer; an import has a deadline of its own. */
const ANSWER_MS = 15_000;
/** A change is confirmed when every gateway knows of it, which takes accounts up to 32 s if Redis is away. */
const EFFECTIVE_MS = 40_000;
/** Every dead letter is read, published and remembered as replayed; the service gives up after as long. */
const REPLAY_DEAD_MS = 600_000;

/** Asks a service, with a deadline, until its signal aborts. Errors say where the question was going. */
type AskingClient<Service> = {
  [Name in keyof Service]: RpcClient<Service>[Name] extends (request: infer Request, context: CallContext) => infer Answer
    ? (request: Request) => Answer
    : never;
} & { stop(): void };

export type AccountsClient = AskingClient<AccountsServiceService>;
export type PlansClient = AskingClient<PlansServiceService>;
export type ReceiversClient = AskingClient<ReceiversServiceService>;
export type DeliveriesClient = AskingClient<DeliveriesServiceService>;
export type EventsClient = AskingClient<EventsServiceService>;
export type ImportClient = RpcClient<ImportServiceService>;

export function connectAccounts(endpoint: Endpoint, config: TlsFiles, signal: AbortSignal): AccountsClient {
  const client = connectRpc(AccountsServiceService, endpoint.address, {
    config,
    idempotent: ["getBrand", "listBrands", "listMembers", "listKeys", "setBrandTier", "setBrandVerified", "addMember", "revokeKey"],
  });
  const deadlines = { revokeKey: EFFECTIVE_MS, setBrandTier: EFFECTIVE_MS, setBrandVerified: EFFECTIVE_MS };
  return asking(client, Object.keys(AccountsServiceService), endpoint, signal, deadlines) as AccountsClient;
}

/** It only reads. */
export function connectPlans(endpoint: Endpoint, config: TlsFiles, signal: AbortSignal): PlansClient {
  const client = connectRpc(PlansServiceService, endpoint.address, { config, idempotent: ["getPlan", "listPlans"] });
  return asking(client, Object.keys(PlansServiceService), endpoint, signal) as PlansClient;
}

/** Deleting again would answer that there is nothing to delete; what makes a secret or a delivery would make another. */
export function connectReceivers(endpoint: Endpoint, config: TlsFiles, signal: AbortSignal): ReceiversClient {
  const client = connectRpc(ReceiversServiceService, endpoint.address, {
    config,
    idempotent: ["getReceiver", "listReceivers", "updateReceiver", "enableReceiver", "disableReceiver"],
  });
  return asking(client, Object.keys(ReceiversServiceService), endpoint, signal) as ReceiversClient;
}

export function connectDeliveries(endpoint: Endpoint, config: TlsFiles, signal: AbortSignal): DeliveriesClient {
  const client = connectRpc(DeliveriesServiceService, endpoint.address, {
    config,
    idempotent: ["listDeliveries", "getDelivery", "getReplay"],
  });
  return asking(client, Object.keys(DeliveriesServiceService), endpoint, signal) as DeliveriesClient;
}

export function connectEvents(endpoint: Endpoint, config: TlsFiles, signal: AbortSignal): EventsClient {
  const client = connectRpc(EventsServiceService, endpoint.address, { config, idempotent: ["listEvents", "listDeadLetters"] });
  const deadlines = { replayDeadLetters: REPLAY_DEAD_MS };
  return asking(client, Object.keys(EventsServiceService), endpoint, signal, deadlines) as EventsClient;
}

type Calls = Record<string, (request: unknown, context: CallContext) => Promise<unknown>>;

/** @param deadlines in milliseconds, of methods that may take longer than a question and its answer */
function asking(
  client: { stop(): void },
  methods: readonly string[],
  endpoint: Endpoint,
  signal: AbortSignal,
  deadlines: Readonly<Record<string, number>> = {},
): object {
  const calls: Record<string, unknown> = { stop: () => client.stop() };
  for (const name of methods) {
    const call = (client as unknown as Calls)[name] as Calls[string];
    calls[name] = async (request: unknown): Promise<unknown> => {
      signal.throwIfAborted();
      try {
        return await call(request, callContext(deadlines[name] ?? ANSWER_MS, signal));
      } catch (error) {
        throw explainUnreachable(error, endpoint);
      }
    };
  }
  return calls;
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
