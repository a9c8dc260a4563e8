import { fileURLToPath } from "node:url";
import type { Subscription } from "@brand-records/event-log";
import type { Lifecycle } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import { AccountsServiceService } from "@brand-records/proto/accounts/v1";
import { DeliveriesServiceService, EventsServiceService, ReceiversServiceService } from "@brand-records/proto/webhook/v1";
import { connectRpc, service, type ServedService } from "@brand-records/rpc";
import { startService } from "@brand-records/service";
import type { Logger, Registry } from "@brand-records/telemetry";
import { KnownBrands } from "./brands/known-brands.ts";
import type { WebhookConfig } from "./config.ts";
import { requireSecretKeys } from "./domain/require-secret-keys.ts";
import { startIntake } from "./intake/start-intake.ts";
import { startJanitor } from "./janitor.ts";
import { startSending } from "./sending/start-sending.ts";
import { startReplayWorker } from "./replaying/replay-worker.ts";
import { deliveriesHandlers } from "./rpc/deliveries.ts";
import { eventsHandlers } from "./rpc/events.ts";
import { receiversHandlers } from "./rpc/receivers.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

/** A claim and a batch of results at once, and the leases of the dead: no request and no intake waits for them. */
const SENDING_CONNECTIONS = 4;

/** Starts the service; answers the ports it listens on. */
export function startWebhook(config: WebhookConfig, life: Lifecycle, log: Logger): Promise<{ rpc_port: number; admin_port: number }> {
  let subscription: Subscription | undefined;
  const wire = async (
    db: Database,
    openOwnPool: (purpose: string, max: number) => Database,
    registry: Registry,
  ): Promise<ServedService[]> => {
    await requireSecretKeys(db, config.RECEIVER_SECRET_KEYS);
    const accounts = life.own(
      "accounts client",
      connectRpc(AccountsServiceService, config.ACCOUNTS_ADDRESS, { config, idempotent: ["getBrand"] }),
    );
    const brands = new KnownBrands(db, accounts);
    const intake = startIntake({ config, db, brands, life, registry, log });
    subscription = intake.subscription;
    life.own("janitor", startJanitor({ db, log, keepDays: config.RETENTION_DAYS }));
    startSending({ config, db: openOwnPool("webhook sending", SENDING_CONNECTIONS), life, registry, log });
    const replaying = life.own("replay worker", startReplayWorker({ db, log }));
    const loopback = config.RECEIVERS_ON_LOOPBACK === "true";
    const receivers = { db, keys: config.RECEIVER_SECRET_KEYS, ports: config.RECEIVER_PORTS, loopback, brands };
    return [
      service(ReceiversServiceService, receiversHandlers(receivers)),
      service(DeliveriesServiceService, deliveriesHandlers({ db, replaying })),
      service(EventsServiceService, eventsHandlers({ db, deadLetters: intake.deadLetters })),
      ...intake.services,
    ];
  };
  const degraded = (): string[] => (subscription?.isReady() === false ? ["event log"] : []);
  return startService({ name: "webhook", config, migrations: MIGRATIONS, life, log, wire, degraded });
}
