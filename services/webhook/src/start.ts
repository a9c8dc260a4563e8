import type { Lifecycle } from "@brand-records/lifecycle";
import { AccountsServiceService, AuditServiceService, SessionsServiceService } from "@brand-records/proto/accounts/v1";
import { connectRpc } from "@brand-records/rpc";
import { AuditOutbox, RemoteGrants, startService, type ServicePorts } from "@brand-records/service-runtime";
import type { Logger } from "@brand-records/telemetry";
import type { WebhookConfig } from "./config.ts";
import type { WebhookDependencies } from "./dependencies.ts";
import { startIntake } from "./intake/start-intake.ts";
import { startJanitor } from "./janitor.ts";
import { showReceivers } from "./receiver-gauges.ts";
import { sendingMetrics } from "./sending/sending-metrics.ts";
import { KnownBrands } from "./known-brands.ts";
import { startReplayWorker } from "./replaying/replay-worker.ts";
import { MIGRATIONS } from "./migrations.ts";
import { webhookServices } from "./rpc/services.ts";
import { startSending } from "./sending/start-sending.ts";
import { BY_INDEX } from "./storage/claims.ts";
import { heldSecretKeys, requireSecretKeys } from "./use-cases/secret-keys.ts";

/**
 * Enough for a claim, a batch of results and two of intake at the same time. They have their own pool, so that no request waits for a connection
 * that they use, and every plan is made once.
 */
const SENDING_CONNECTIONS = 4;

/** Starts the service. @returns the ports it listens on */
export async function startWebhook(config: WebhookConfig, life: Lifecycle, log: Logger): Promise<ServicePorts> {
  const base = await startService({ name: "webhook", config, migrations: MIGRATIONS, life, log });
  const { db, maintenance, metrics, clock } = base;
  const keys = config.RECEIVER_SECRET_KEYS;
  await requireSecretKeys(db, keys);
  await base.announceKeys(heldSecretKeys(keys));
  // Once more: until it was announced, others may have sealed secrets under a key that it lacks.
  await requireSecretKeys(db, keys);

  const accounts = life.own("accounts client", connectRpc(AccountsServiceService, config.ACCOUNTS_ADDRESS, { config, metrics }));
  const sessions = life.own("accounts sessions client", connectRpc(SessionsServiceService, config.ACCOUNTS_ADDRESS, { config, metrics }));
  const auditLog = life.own("accounts audit client", connectRpc(AuditServiceService, config.ACCOUNTS_ADDRESS, { config, metrics }));
  const audit = life.own("audit outbox", new AuditOutbox({ schema: "webhook", db, accounts: auditLog, log, metrics }));
  const brands = new KnownBrands(db, accounts);
  const sending = sendingMetrics(metrics);
  const sendingPool = base.openPool("webhook sending", SENDING_CONNECTIONS, BY_INDEX);
  const sender = startSending({ config, db: sendingPool, clock, life, maintenance, metrics: sending, log });
  // What changes many rows at once goes by the same rate as deliveries that are behind.
  const turn = (): Promise<void> => sender.turn();
  life.own("janitor", startJanitor({ db, clock, maintenance, log, chunks: { turn }, keepDays: config.RETENTION_DAYS }));
  base.reportUnusableKeys("RECEIVER_SECRET_KEYS", () => sender.unusableKeyIds());
  showReceivers(metrics, db);
  // After the sender, so that it stops first: the sender then finishes what intake gave it.
  const intake = await startIntake({ config, db: sendingPool, clock, brands, first: sender, life, registry: metrics, log });
  base.reportDegraded("event log", () => intake.subscription?.isReady() === false);
  const replaying = life.own("replay worker", startReplayWorker(db, log, turn));

  const deps: WebhookDependencies = {
    db,
    keys,
    brands,
    audit,
    deadLetters: intake.deadLetters,
    messages: intake.messages,
    replaying,
    chunks: { turn },
    onDisabled: () => sending.disabled.inc({ reason: "member" }),
    deadlineMs: config.DELIVERY_DEADLINE_MS,
    publicUrl: config.PUBLIC_URL,
    headerWord: config.HEADER_WORD,
    ports: config.RECEIVER_PORTS,
    loopback: config.RECEIVERS_ON_LOOPBACK === "true",
  };
  return base.serve([...webhookServices(deps), ...intake.services], { grants: new RemoteGrants(sessions, "webhook"), audit });
}
