import { VerificationServiceService } from "@brand-records/proto/accounts/v1";
import { PlansServiceService } from "@brand-records/proto/plans/v1";
import { RecordsServiceService } from "@brand-records/proto/records/v1";
import { LIST_METHODS } from "@brand-records/resources";
import { connectRpc, type RpcClient } from "@brand-records/rpc";
import type { GatewayConfig } from "./config.ts";

/** The services behind the gateway, typed. */
export interface Services {
  readonly verification: RpcClient<VerificationServiceService>;
  readonly plans: RpcClient<PlansServiceService>;
  readonly records: RpcClient<RecordsServiceService>;
  stop(): void;
}

/** Connects lazily: services may start later or restart. Reads are idempotent, and so is preparing: one request_id makes one plan. */
export function connectServices(config: GatewayConfig): Services {
  const verification = connectRpc(VerificationServiceService, config.ACCOUNTS_ADDRESS, { config, idempotent: ["verifyKey"] });
  const plans = connectRpc(PlansServiceService, config.PLANS_ADDRESS, { config, idempotent: ["preparePlan"] });
  const records = connectRpc(RecordsServiceService, config.RECORDS_ADDRESS, {
    config,
    idempotent: LIST_METHODS,
  });
  return {
    verification,
    plans,
    records,
    stop() {
      verification.stop();
      plans.stop();
      records.stop();
    },
  };
}
