import { AppError } from "@brand-records/errors";
import {
  AccountsServiceService,
  AuditServiceService,
  OperatorServiceService,
  SessionsServiceService,
  SignInServiceService,
} from "@brand-records/proto/accounts/v1";
import { PlansServiceService } from "@brand-records/proto/plans/v1";
import { ImportServiceService, RecordsServiceService } from "@brand-records/proto/records/v1";
import { DeliveriesServiceService, EventsServiceService, ReceiversServiceService } from "@brand-records/proto/webhook/v1";
import { connectRpc, newCallContext, type CallContext, type RpcClient } from "@brand-records/rpc";
import { eventually } from "@brand-records/testkit";
import type { ServiceName } from "./options.ts";

export interface StackClients {
  readonly accounts: RpcClient<AccountsServiceService>;
  readonly signIn: RpcClient<SignInServiceService>;
  readonly sessions: RpcClient<SessionsServiceService>;
  readonly audit: RpcClient<AuditServiceService>;
  /** What operators ask of accounts. */
  readonly operator: RpcClient<OperatorServiceService>;
  readonly plans: RpcClient<PlansServiceService>;
  readonly records: RpcClient<RecordsServiceService>;
  readonly importing: RpcClient<ImportServiceService>;
  readonly receivers: RpcClient<ReceiversServiceService>;
  readonly events: RpcClient<EventsServiceService>;
  readonly deliveries: RpcClient<DeliveriesServiceService>;
}

export const callContext = (timeoutMs = 30_000): CallContext => newCallContext(timeoutMs, "test");

export const connectClients = (addresses: Readonly<Record<ServiceName, string>>): StackClients => ({
  accounts: connectRpc(AccountsServiceService, addresses.accounts),
  signIn: connectRpc(SignInServiceService, addresses.accounts),
  sessions: connectRpc(SessionsServiceService, addresses.accounts),
  audit: connectRpc(AuditServiceService, addresses.accounts),
  operator: connectRpc(OperatorServiceService, addresses.accounts),
  plans: connectRpc(PlansServiceService, addresses.plans),
  records: connectRpc(RecordsServiceService, addresses.records),
  importing: connectRpc(ImportServiceService, addresses.records),
  receivers: connectRpc(ReceiversServiceService, addresses.webhook),
  events: connectRpc(EventsServiceService, addresses.webhook),
  deliveries: connectRpc(DeliveriesServiceService, addresses.webhook),
});

/**
 * Resolves when the clients have reconnected to a service that was started again, which they do after a pause: over one connection for
 * calls that are repeated, and one for the others.
 */
export async function reconnected({ accounts, plans, records, receivers }: StackClients, service: ServiceName): Promise<void> {
  const repeated: Record<ServiceName, () => Promise<unknown>> = {
    accounts: () => accounts.listBrands({ page_size: 1, after_id: null }, callContext()),
    plans: () => plans.listPlans({ brand_id: "brd_none", status: null, page_size: 1, after_id: null }, callContext()),
    records: () => records.listLinks({ brand_id: "brd_none", limit: 1, cursor: null, since: null }, callContext()),
    webhook: () => receivers.listReceivers({ brand_id: "brd_none" }, callContext()),
  };
  const notRepeated: Partial<Record<ServiceName, () => Promise<unknown>>> = {
    accounts: () => accounts.createBrand({ name: "", tier: "", verified: false }, callContext()),
    webhook: () => receivers.createReceiver({ brand_id: "brd_none", url: "", label: "", events: [] }, callContext()),
  };
  await eventually(() => repeated[service]().catch(requireRefused));
  await eventually(() => notRepeated[service]?.().catch(requireRefused));
}

/** A refusal shows that a call has arrived: a cell does not have the brand. @throws the error of one that has not */
function requireRefused(error: unknown): void {
  if (!(error instanceof AppError) || !["invalid_request", "brand_moving"].includes(error.kind)) throw error;
}
