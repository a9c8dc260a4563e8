import {
  AccountsServiceService,
  AuditServiceService,
  OperatorServiceService as AccountsOperator,
  SessionsServiceService,
  SignInServiceService,
  UsageServiceService,
} from "@brand-records/proto/accounts/v1";
import { OperatorServiceService as PlansOperator, PlansServiceService } from "@brand-records/proto/plans/v1";
import {
  DeliveriesServiceService,
  EventsServiceService,
  OperatorServiceService as WebhookOperator,
  ReceiversServiceService,
} from "@brand-records/proto/webhook/v1";
import { connectRpc, type RpcClient } from "@brand-records/rpc";
import type { ConsoleConfig } from "./config.ts";

/** The services behind the console, typed. */
export interface Services {
  readonly accounts: RpcClient<AccountsServiceService>;
  readonly signIn: RpcClient<SignInServiceService>;
  readonly sessions: RpcClient<SessionsServiceService>;
  readonly audit: RpcClient<AuditServiceService>;
  readonly usage: RpcClient<UsageServiceService>;
  readonly keyBrands: RpcClient<AccountsOperator>;
  readonly receivers: RpcClient<ReceiversServiceService>;
  readonly deliveries: RpcClient<DeliveriesServiceService>;
  readonly events: RpcClient<EventsServiceService>;
  readonly webhookBrands: RpcClient<WebhookOperator>;
  readonly plans: RpcClient<PlansServiceService>;
  readonly planBrands: RpcClient<PlansOperator>;
  stop(): void;
}

/** Connects lazily: services may start later or restart. Lists as idempotent what a retry does not do twice. */
export function connectServices(config: ConsoleConfig): Services {
  const { ACCOUNTS_ADDRESS: accounts, PLANS_ADDRESS: plans, WEBHOOK_ADDRESS: webhook } = config;
  const clients = {
    accounts: connectRpc(AccountsServiceService, accounts, { config, idempotent: ["listKeys", "revokeKey"] }),
    signIn: connectRpc(SignInServiceService, accounts, { config, idempotent: ["peekSignInLink"] }),
    sessions: connectRpc(SessionsServiceService, accounts, { config, idempotent: ["getSession", "endSession"] }),
    audit: connectRpc(AuditServiceService, accounts, { config, idempotent: ["finishAudit", "listAudit"] }),
    usage: connectRpc(UsageServiceService, accounts, { config, idempotent: ["getUsage"] }),
    keyBrands: connectRpc(AccountsOperator, accounts, { config, idempotent: ["findBrand"] }),
    receivers: connectRpc(ReceiversServiceService, webhook, {
      config,
      idempotent: ["listReceivers", "getReceiver", "updateReceiver", "enableReceiver", "disableReceiver"],
    }),
    deliveries: connectRpc(DeliveriesServiceService, webhook, {
      config,
      idempotent: ["listDeliveries", "getDelivery", "getDeliveryStats", "countReplay", "getLatestReplay", "cancelReplay"],
    }),
    events: connectRpc(EventsServiceService, webhook, { config, idempotent: ["listEvents", "getEvent"] }),
    webhookBrands: connectRpc(WebhookOperator, webhook, { config, idempotent: ["findBrand"] }),
    // A repeated change finds itself made already.
    plans: connectRpc(PlansServiceService, plans, {
      config,
      idempotent: ["listPlanSummaries", "getWorkspacePlan", "updatePlan", "completePlan", "cancelPlan"],
    }),
    planBrands: connectRpc(PlansOperator, plans, { config, idempotent: ["findBrand"] }),
  };
  return {
    ...clients,
    stop() {
      for (const client of Object.values(clients)) (client as { stop(): void }).stop();
    },
  };
}
