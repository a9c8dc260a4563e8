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
import { connectRpc, type RpcClient, type RpcConnection } from "@brand-records/rpc";
import type { Logger, Registry } from "@brand-records/telemetry";
import type { ConsoleConfig } from "./config.ts";
import { recordingFor } from "./services-of-1-0.ts";

/** The services behind the console, typed. */
export type Services = ReturnType<typeof connectServices>;

/** Connects with the first calls, or with `connected`. */
export function connectServices(config: ConsoleConfig, metrics: Registry, log: Logger) {
  const { ACCOUNTS_ADDRESS: accounts, PLANS_ADDRESS: plans, WEBHOOK_ADDRESS: webhook } = config;
  const audit = connectRpc(AuditServiceService, accounts, { config, metrics });
  const connect = <Service extends Parameters<typeof connectRpc>[0]>(definition: Service, address: string): RpcClient<Service> =>
    recordingFor(definition, connectRpc(definition, address, { config, metrics }), audit, log);
  const clients = {
    accounts: connect(AccountsServiceService, accounts),
    signIn: connect(SignInServiceService, accounts),
    sessions: connect(SessionsServiceService, accounts),
    audit,
    usage: connect(UsageServiceService, accounts),
    keyBrands: connect(AccountsOperator, accounts),
    receivers: connect(ReceiversServiceService, webhook),
    deliveries: connect(DeliveriesServiceService, webhook),
    events: connect(EventsServiceService, webhook),
    webhookBrands: connect(WebhookOperator, webhook),
    plans: connect(PlansServiceService, plans),
    planBrands: connect(PlansOperator, plans),
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
