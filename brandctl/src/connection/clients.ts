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

/** A client whose calls carry a deadline and end with the connection's signal. Errors name the address. Default request id: random. */
type BoundClient<Service> = {
  [Name in keyof Service]: RpcClient<Service>[Name] extends (request: infer Request, context: CallContext) => infer Response
    ? (request: Request, requestId?: string) => Response
    : never;
} & { stop(): void };

export type AccountsClient = BoundClient<AccountsServiceService>;
export type AuditClient = BoundClient<AuditServiceService>;
export type UsageClient = BoundClient<UsageServiceService>;
export type SignInClient = BoundClient<SignInServiceService>;
export type PlansClient = BoundClient<PlansServiceService>;
export type ReceiversClient = BoundClient<ReceiversServiceService>;
export type DeliveriesClient = BoundClient<DeliveriesServiceService>;
export type EventsClient = BoundClient<EventsServiceService>;
export type AccountsOperatorClient = BoundClient<AccountsOperatorService>;
export type PlansOperatorClient = BoundClient<PlansOperatorService>;
export type OperatorClient = BoundClient<typeof AccountsOperatorService>;
export type ImportClient = RpcClient<ImportServiceService>;

export const connectAccounts = (connection: Connection): AccountsClient => connect(AccountsServiceService, connection);

export const connectAudit = (connection: Connection): AuditClient => connect(AuditServiceService, connection);

export const connectUsage = (connection: Connection): UsageClient => connect(UsageServiceService, connection);

export const connectSignIn = (connection: Connection): SignInClient => connect(SignInServiceService, connection);

export const connectPlans = (connection: Connection): PlansClient => connect(PlansServiceService, connection);

export const connectReceivers = (connection: Connection): ReceiversClient => connect(ReceiversServiceService, connection);

export const connectDeliveries = (connection: Connection): DeliveriesClient => connect(DeliveriesServiceService, connection);

export const connectEvents = (connection: Connection): EventsClient =>
  connect(EventsServiceService, connection, { replayDeadLetters: REPLAY_DEAD_MS });

const OPERATOR_SERVICES = { accounts: AccountsOperatorService, plans: PlansOperatorService, webhook: WebhookOperatorService };

export type OperatorServiceName = keyof typeof OPERATOR_SERVICES;

export const connectOperator =
  (service: OperatorServiceName) =>
  (connection: Connection): OperatorClient =>
    connect(OPERATOR_SERVICES[service] as typeof AccountsOperatorService, connection);

export const connectAccountsOperator = (connection: Connection): AccountsOperatorClient =>
  connect(AccountsOperatorService, connection, { erasePerson: ERASE_MS });

export const connectPlansOperator = (connection: Connection): PlansOperatorClient =>
  connect(PlansOperatorService, connection, { erasePerson: ERASE_MS });

export const connectDeletion = {
  accounts: (connection: Connection): BoundClient<typeof AccountsOperatorService> => connect(AccountsOperatorService, connection),
  plans: (connection: Connection): BoundClient<typeof PlansOperatorService> => connect(PlansOperatorService, connection),
  records: (connection: Connection): BoundClient<typeof RecordsOperatorService> => connect(RecordsOperatorService, connection),
  webhook: (connection: Connection): BoundClient<typeof WebhookOperatorService> =>
    connect(WebhookOperatorService, connection, { removeDeadLetters: REPLAY_DEAD_MS }),
};

export type Deleters = { readonly [Name in keyof typeof connectDeletion]: ReturnType<(typeof connectDeletion)[Name]> };

export function connectImport({ endpoint, tls }: Connection): ImportClient {
  return connectRpc(ImportServiceService, endpoint.address, { config: tls });
}

type Definition = Parameters<typeof connectRpc>[0];
type Calls = Record<string, (request: unknown, context: CallContext) => Promise<unknown>>;

/** @param deadlines in milliseconds, of calls that may take longer than CALL_MS */
function connect<Service extends Definition>(
  definition: Service,
  { endpoint, tls, signal }: Connection,
  deadlines: Readonly<Record<string, number>> = {},
): BoundClient<Service> {
  const client = connectRpc(definition, endpoint.address, { config: tls });
  const bound: Record<string, unknown> = { stop: () => client.stop() };
  for (const name of Object.keys(definition)) {
    const call = (client as unknown as Calls)[name] as Calls[string];
    bound[name] = async (request: unknown, requestId?: string): Promise<unknown> => {
      signal.throwIfAborted();
      try {
        return await call(request, { ...newCallContext(deadlines[name] ?? CALL_MS, requestId), signal });
      } catch (error) {
        throw explainUnreachable(error, endpoint, tls);
      }
    };
  }
  return bound as BoundClient<Service>;
}
