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
};

/** Keys begin with the name of their service. */
const CLIENTS = {
  accounts: { definition: AccountsServiceService },
  "accounts.audit": { definition: AuditServiceService },
  "accounts.usage": { definition: UsageServiceService },
  "accounts.signIn": { definition: SignInServiceService },
  "accounts.operator": { definition: AccountsOperatorService, deadlines: { erasePerson: ERASE_MS } },
  plans: { definition: PlansServiceService },
  "plans.operator": { definition: PlansOperatorService, deadlines: { erasePerson: ERASE_MS } },
  "records.operator": { definition: RecordsOperatorService },
  "webhook.receivers": { definition: ReceiversServiceService },
  "webhook.deliveries": { definition: DeliveriesServiceService },
  "webhook.events": { definition: EventsServiceService, deadlines: { replayDeadLetters: REPLAY_DEAD_MS } },
  "webhook.operator": { definition: WebhookOperatorService, deadlines: { erasePerson: ERASE_MS, removeDeadLetters: REPLAY_DEAD_MS } },
} as const;

export type ClientName = keyof typeof CLIENTS;
export type Client<Name extends ClientName> = BoundClient<(typeof CLIENTS)[Name]["definition"]>;

export type AccountsClient = Client<"accounts">;
export type AuditClient = Client<"accounts.audit">;
export type ReceiversClient = Client<"webhook.receivers">;
export type DeliveriesClient = Client<"webhook.deliveries">;
export type EventsClient = Client<"webhook.events">;
export type AccountsOperatorClient = Client<"accounts.operator">;
export type ImportClient = RpcClient<ImportServiceService>;

export const connectImport = ({ endpoint, tls }: Connection): ImportClient =>
  connectRpc(ImportServiceService, endpoint.address, { config: tls });

type Calls = Readonly<Record<string, (request: unknown, context: CallContext) => Promise<unknown>>>;

/** Makes the calls of a client. */
export interface Caller {
  call(method: string, request: unknown): Promise<unknown>;
  stop(): void;
}

export function connect(name: ClientName, { endpoint, tls, signal }: Connection): Caller {
  const { definition, deadlines = {} }: { definition: object; deadlines?: Readonly<Record<string, number>> } = CLIENTS[name];
  const client = connectRpc(definition as Parameters<typeof connectRpc>[0], endpoint.address, { config: tls });
  return {
    stop: () => client.stop(),
    async call(method, request) {
      signal.throwIfAborted();
      try {
        return await (client as unknown as Calls)[method]?.(request, { ...newCallContext(deadlines[method] ?? CALL_MS), signal });
      } catch (error) {
        throw explainUnreachable(error, endpoint, tls);
      }
    },
  };
}
