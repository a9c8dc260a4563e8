import { fileURLToPath } from "node:url";
import type { Lifecycle } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import { PlansServiceService } from "@brand-records/proto/plans/v1";
import { service, type ServedService } from "@brand-records/rpc";
import { startService } from "@brand-records/service";
import type { Logger } from "@brand-records/telemetry";
import type { PlansConfig } from "./config.ts";
import { Turns } from "./domain/turns.ts";
import { plansHandlers } from "./rpc/plans.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

/** Pending plans a brand may have: contract, told to callers and models. */
const PENDING_PLANS_MAX = 200;

/** Starts the service; answers the ports it listens on. */
export function startPlans(config: PlansConfig, life: Lifecycle, log: Logger): Promise<{ rpc_port: number; admin_port: number }> {
  const wire = (db: Database): ServedService[] => [
    service(PlansServiceService, plansHandlers({ db, turns: new Turns(), pendingMax: PENDING_PLANS_MAX })),
  ];
  return startService({ name: "plans", config, migrations: MIGRATIONS, life, log, wire });
}
