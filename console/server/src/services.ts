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
import type { Registry } from "@brand-records/telemetry";
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
export function connectServices(config: ConsoleConfig, metrics: Registry): Services {
  const { ACCOUNTS_ADDRESS: accounts, PLANS_ADDRESS: plans, WEBHOOK_ADDRESS: webhook } = config;
  const clients = {
    accounts: connectRpc(AccountsServiceService, accounts, {
      config,
      metrics,
      idempotent: ["listKeys", "revokeKey", "listMembers", "setMemberRole"],
    }),
    signIn: connectRpc(SignInServiceService, accounts, { config, metrics, idempotent: ["peekSignInLink"] }),
    sessions: connectRpc(SessionsServiceService, accounts, { config, metrics, idempotent: ["getSession", "endSession", "endSessionsOf"] }),
    audit: connectRpc(AuditServiceService, accounts, { config, metrics, idempotent: ["finishAudit", "listAudit"] }),
    usage: connectRpc(UsageServiceService, accounts, { config, metrics, idempotent: ["getUsage"] }),
    keyBrands: connectRpc(AccountsOperator, accounts, { config, metrics, idempotent: ["findBrand"] }),
    receivers: connectRpc(ReceiversServiceService, webhook, {
      config,
      metrics,
      idempotent: ["listReceivers", "getReceiver", "updateReceiver", "enableReceiver", "disableReceiver"],
    }),
    deliveries: connectRpc(DeliveriesServiceService, webhook, {
      config,
      metrics,
      idempotent: ["listDeliveries", "getDelivery", "getDeliveryStats", "countReplay", "getLatestReplay", "cancelReplay"],
    }),
    events: connectRpc(EventsServiceService, webhook, { config, metrics, idempotent: ["listEvents", "getEvent"] }),
    webhookBrands: connectRpc(WebhookOperator, webhook, { config, metrics, idempotent: ["findBrand"] }),
    // A repeated change finds itself made already.
    plans: connectRpc(PlansServiceService, plans, {
      config,
      metrics,
      idempotent: ["listPlanSummaries", "getWorkspacePlan", "updatePlan", "completePlan", "cancelPlan"],
    }),
    planBrands: connectRpc(PlansOperator, plans, { config, metrics, idempotent: ["findBrand"] }),
  };
  return {
    ...clients,
    stop() {
      for (const client of Object.values(clients)) (client as { stop(): void }).stop();
    },
  };
}
