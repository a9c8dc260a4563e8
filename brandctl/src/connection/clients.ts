import {
  AccountsServiceService,
  AuditServiceService,
  OperatorServiceService as AccountsOperatorService,
  SignInServiceService,
  UsageServiceService,
} from "@brand-records/proto/accounts/v1";
import { OperatorServiceService as PlansOperatorService, PlansServiceService } from "@brand-records/proto/plans/v1";
import { ImportServiceService, OperatorServiceService as RecordsOperatorService } from "@brand-records/proto/records/v1";
import {
  DeliveriesServiceService,
  EventsServiceService,
  OperatorServiceService as WebhookOperatorService,
  ReceiversServiceService,
} from "@brand-records/proto/webhook/v1";
import { connectRpc, newCallContext, type CallContext, type RpcClient } from "@brand-records/rpc";
import type { Endpoint, TlsFiles } from "./endpoints.ts";
import { explainUnreachable } from "./explain-unreachable.ts";

/** Deadline of a call; an import has another. */
const CALL_MS = 15_000;
/** Every dead letter is read, published and marked as replayed; the service gives up after the same time. */
const REPLAY_DEAD_MS = 600_000;
/** Every audit entry or plan of a person is written, a thousand at a time. */
const ERASE_MS = 600_000;

/** Where a client connects, and what cancels its calls. */
export interface Connection {
  readonly endpoint: Endpoint;
  readonly tls: TlsFiles;
  readonly signal: AbortSignal;
}

/** A client whose calls carry a deadline and end with the connection's signal. Errors name the address. */
type BoundClient<Service> = {
  [Name in keyof Service]: RpcClient<Service>[Name] extends (request: infer Request, context: CallContext) => infer Response
    ? (request: Request) => Response
    : never;
} & { stop(): void };

const CLIENTS = {
  accounts: { definition: AccountsServiceService },
  audit: { definition: AuditServiceService },
  usage: { definition: UsageServiceService },
  signIn: { definition: SignInServiceService },
  accountsOperator: { definition: AccountsOperatorService, deadlines: { erasePerson: ERASE_MS } },
  plans: { definition: PlansServiceService },
  plansOperator: { definition: PlansOperatorService, deadlines: { erasePerson: ERASE_MS } },
  recordsOperator: { definition: RecordsOperatorService },
  receivers: { definition: ReceiversServiceService },
  deliveries: { definition: DeliveriesServiceService },
  events: { definition: EventsServiceService, deadlines: { replayDeadLetters: REPLAY_DEAD_MS } },
  webhookOperator: { definition: WebhookOperatorService, deadlines: { erasePerson: ERASE_MS, removeDeadLetters: REPLAY_DEAD_MS } },
} as const;

export type ClientName = keyof typeof CLIENTS;
export type Client<Name extends ClientName> = BoundClient<(typeof CLIENTS)[Name]["definition"]>;

export type AccountsClient = Client<"accounts">;
export type AuditClient = Client<"audit">;
export type ReceiversClient = Client<"receivers">;
export type DeliveriesClient = Client<"deliveries">;
export type EventsClient = Client<"events">;
export type AccountsOperatorClient = Client<"accountsOperator">;
export type ImportClient = RpcClient<ImportServiceService>;

export const connectImport = ({ endpoint, tls }: Connection): ImportClient =>
  connectRpc(ImportServiceService, endpoint.address, { config: tls });

type Definition = Parameters<typeof connectRpc>[0];
type Calls = Record<string, (request: unknown, context: CallContext) => Promise<unknown>>;

export function connect<Name extends ClientName>(name: Name, { endpoint, tls, signal }: Connection): Client<Name> {
  const { definition, deadlines = {} }: { definition: Definition; deadlines?: Readonly<Record<string, number>> } = CLIENTS[name];
  const client = connectRpc(definition, endpoint.address, { config: tls });
  const bound: Record<string, unknown> = { stop: () => client.stop() };
  for (const name of Object.keys(definition)) {
    const call = (client as unknown as Calls)[name] as Calls[string];
    bound[name] = async (request: unknown): Promise<unknown> => {
      signal.throwIfAborted();
      try {
        return await call(request, { ...newCallContext(deadlines[name] ?? CALL_MS), signal });
      } catch (error) {
        throw explainUnreachable(error, endpoint, tls);
      }
    };
  }
  return bound as Client<Name>;
}
