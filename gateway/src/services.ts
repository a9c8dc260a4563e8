import { UsageServiceService, VerificationServiceService } from "@brand-records/proto/accounts/v1";
import { PlansServiceService } from "@brand-records/proto/plans/v1";
import { RecordsServiceService } from "@brand-records/proto/records/v1";
import { connectRpc, type RpcClient } from "@brand-records/rpc";
import type { Registry } from "@brand-records/telemetry";
import type { GatewayConfig } from "./config.ts";
import { RecordsCells } from "./records-cells.ts";

/** The services behind the gateway, typed. */
export interface Services {
  readonly verification: RpcClient<VerificationServiceService>;
  readonly usage: RpcClient<UsageServiceService>;
  readonly plans: RpcClient<PlansServiceService>;
  readonly records: RecordsCells;
  /** Connects those that requests need. Services may start later or restart. */
  connected(): Promise<unknown>;
  stop(): void;
}

/** Connects with the first calls, or with `connected`. */
export function connectServices(config: GatewayConfig, metrics?: Registry): Services {
  const shared = { config, ...(metrics && { metrics }) };
  const clients = {
    verification: connectRpc(VerificationServiceService, config.ACCOUNTS_ADDRESS, shared),
    usage: connectRpc(UsageServiceService, config.ACCOUNTS_ADDRESS, shared),
    plans: connectRpc(PlansServiceService, config.PLANS_ADDRESS, shared),
    records: new RecordsCells((address) => connectRpc(RecordsServiceService, address, shared), config),
  };
  const { verification, plans, records } = clients;
  return {
    ...clients,
    connected: () => Promise.all([verification, plans, records].map((client) => client.connected())),
    stop() {
      for (const client of Object.values(clients)) client.stop();
    },
  };
}
