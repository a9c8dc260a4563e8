import { VerificationServiceService } from "@brand-records/proto/accounts/v1";
import { RecordsServiceService } from "@brand-records/proto/records/v1";
import { connectRpc, type RpcClient } from "@brand-records/rpc";
import type { GatewayConfig } from "./config.ts";

/** The services behind the gateway, typed. */
export interface Services {
  readonly verification: RpcClient<VerificationServiceService>;
  readonly records: RpcClient<RecordsServiceService>;
  stop(): void;
}

/** Connects lazily: services may come and go. Everything here only reads, so everything may be sent again. */
export function connectServices(config: GatewayConfig): Services {
  const verification = connectRpc(VerificationServiceService, config.ACCOUNTS_ADDRESS, { config, idempotent: ["verifyKey"] });
  const records = connectRpc(RecordsServiceService, config.RECORDS_ADDRESS, {
    config,
    idempotent: ["listCampaigns", "listSubmissions", "listPayouts", "listDeposits", "listConversions", "listLinks"],
  });
  return {
    verification,
    records,
    stop() {
      verification.stop();
      records.stop();
    },
  };
}
