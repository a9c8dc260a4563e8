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
import { connectRpc, type RpcConnection } from "@brand-records/rpc";
import type { Registry } from "@brand-records/telemetry";
import type { ConsoleConfig } from "./config.ts";

/** The services behind the console, typed. */
export type Services = ReturnType<typeof connectServices>;

/** Connects with the first calls, or with `connected`. */
export function connectServices(config: ConsoleConfig, metrics: Registry) {
  const { ACCOUNTS_ADDRESS: accounts, PLANS_ADDRESS: plans, WEBHOOK_ADDRESS: webhook } = config;
  const clients = {
    accounts: connectRpc(AccountsServiceService, accounts, { config, metrics }),
    signIn: connectRpc(SignInServiceService, accounts, { config, metrics }),
    sessions: connectRpc(SessionsServiceService, accounts, { config, metrics }),
    audit: connectRpc(AuditServiceService, accounts, { config, metrics }),
    usage: connectRpc(UsageServiceService, accounts, { config, metrics }),
    keyBrands: connectRpc(AccountsOperator, accounts, { config, metrics }),
    receivers: connectRpc(ReceiversServiceService, webhook, { config, metrics }),
    deliveries: connectRpc(DeliveriesServiceService, webhook, { config, metrics }),
    events: connectRpc(EventsServiceService, webhook, { config, metrics }),
    webhookBrands: connectRpc(WebhookOperator, webhook, { config, metrics }),
    plans: connectRpc(PlansServiceService, plans, { config, metrics }),
    planBrands: connectRpc(PlansOperator, plans, { config, metrics }),
  };
  const connections: readonly RpcConnection[] = Object.values(clients);
  return {
    ...clients,
    /** Connects now. Services may start later or restart. */
    connected: (): Promise<unknown> => Promise.all(connections.map((client) => client.connected())),
    stop(): void {
      for (const client of connections) client.stop();
    },
  };
}
