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

const OF_ACCOUNTS = {
  accounts: AccountsServiceService,
  signIn: SignInServiceService,
  sessions: SessionsServiceService,
  usage: UsageServiceService,
  keyBrands: AccountsOperator,
};
const OF_PLANS = { plans: PlansServiceService, planBrands: PlansOperator };
const OF_WEBHOOK = {
  receivers: ReceiversServiceService,
  deliveries: DeliveriesServiceService,
  events: EventsServiceService,
  webhookBrands: WebhookOperator,
};
/** What the clients call, by their names. */
export const DEFINITIONS = { ...OF_ACCOUNTS, ...OF_PLANS, ...OF_WEBHOOK, audit: AuditServiceService };

type ClientsOf<Definitions> = { readonly [Name in keyof Definitions]: RpcClient<Definitions[Name]> };

/** The services behind the console, typed. */
export type Services = ReturnType<typeof connectServices>;

/** Connects with the first calls, or with `connected`. */
export function connectServices(config: ConsoleConfig, metrics: Registry, log: Logger) {
  const audit = connectRpc(AuditServiceService, config.ACCOUNTS_ADDRESS, { config, metrics });
  const connect = <Definitions extends Readonly<Record<string, Parameters<typeof connectRpc>[0]>>>(
    definitions: Definitions,
    address: string,
  ) => {
    const connected = Object.entries(definitions).map(([name, definition]) => {
      return [name, recordingFor(definition, connectRpc(definition, address, { config, metrics }), audit, log)] as const;
    });
    return Object.fromEntries(connected) as ClientsOf<Definitions>;
  };
  const clients = {
    ...connect(OF_ACCOUNTS, config.ACCOUNTS_ADDRESS),
    ...connect(OF_PLANS, config.PLANS_ADDRESS),
    ...connect(OF_WEBHOOK, config.WEBHOOK_ADDRESS),
    audit,
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
