import { KeyedMutex, type Lifecycle } from "@brand-records/lifecycle";
import { AuditServiceService, SessionsServiceService } from "@brand-records/proto/accounts/v1";
import { OperatorServiceService, PlansServiceService } from "@brand-records/proto/plans/v1";
import { connectRpc, service } from "@brand-records/rpc";
import { AuditOutbox, RemoteGrants, startService, type ServicePorts } from "@brand-records/service-runtime";
import type { Logger } from "@brand-records/telemetry";
import type { PlansConfig } from "./config.ts";
import type { PlansDependencies } from "./dependencies.ts";
import { MIGRATIONS } from "./migrations.ts";
import { operatorHandlers } from "./rpc/operator.ts";
import { plansHandlers } from "./rpc/plans.ts";

/** Pending plans a brand may have. Part of the contract: documented for callers and models. */
const PENDING_PLANS_MAX = 200;

/** Starts the service and returns the ports it listens on. */
export async function startPlans(config: PlansConfig, life: Lifecycle, log: Logger): Promise<ServicePorts> {
  const base = await startService({ name: "plans", config, migrations: MIGRATIONS, life, log });
  const { db, metrics } = base;
  const sessions = life.own("accounts sessions client", connectRpc(SessionsServiceService, config.ACCOUNTS_ADDRESS, { config, metrics }));
  const auditLog = life.own("accounts audit client", connectRpc(AuditServiceService, config.ACCOUNTS_ADDRESS, { config, metrics }));
  const audit = life.own("audit outbox", new AuditOutbox({ schema: "plans", db, accounts: auditLog, log, metrics }));
  const deps: PlansDependencies = {
    db,
    audit,
    clock: base.clock,
    brandMutex: new KeyedMutex(),
    pendingMax: PENDING_PLANS_MAX,
    onPrepared: ({ brand_id, plan_id }) => log.info({ notice: "plan.prepared", notice_id: plan_id, brand_id, plan_id }, "plan prepared"),
  };
  const services = [service(PlansServiceService, plansHandlers(deps)), service(OperatorServiceService, operatorHandlers(deps))];
  return base.serve(services, { grants: new RemoteGrants(sessions, "plans"), audit });
}
