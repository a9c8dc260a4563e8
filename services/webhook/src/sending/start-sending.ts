import { startNotifier, type Database } from "@brand-records/postgres";
import { type Lifecycle, withStopTimeout } from "@brand-records/lifecycle";
import type { Logger, Registry } from "@brand-records/telemetry";
import type { WebhookConfig } from "../config.ts";
import { leaseSecondsFor } from "../domain/delivery.ts";
import { startLeaseKeeper } from "./expired-leases.ts";
import { ReceiverAgent } from "./receiver-agent.ts";
import { Sender } from "./sender.ts";
import { sendingMetrics } from "./sending-metrics.ts";

/** Short: the notifier has nothing to finish, and if the database does not respond, the sender needs the rest of the stop's time. */
const NOTIFIER_STOP_MS = 200;

export interface SendingStart {
  readonly config: WebhookConfig;
  readonly db: Database;
  readonly life: Lifecycle;
  readonly registry: Registry;
  readonly log: Logger;
}

export function startSending({ config, db, life, registry, log }: SendingStart): void {
  const allowLoopback = config.RECEIVERS_ON_LOOPBACK === "true";
  if (allowLoopback) log.warn({}, "RECEIVERS_ON_LOOPBACK is set: deliveries may go to this machine, without TLS");
  const agent = new ReceiverAgent({ dnsServers: config.RECEIVER_DNS_SERVERS, allowLoopback, connectionsMax: config.SENDING_MAX });
  life.own("connections to receivers", agent);
  const terms = { leaseSeconds: leaseSecondsFor(config.DELIVERY_DEADLINE_MS), attemptsMax: config.RETRY_DELAYS_SECONDS.length + 1 };
  life.own("lease keeper", startLeaseKeeper(db, terms, log));
  const sender = life.own(
    "sender",
    new Sender({
      db,
      keys: config.RECEIVER_SECRET_KEYS,
      agent,
      metrics: sendingMetrics(registry),
      log,
      inFlightMax: config.SENDING_MAX,
      deadlineMs: config.DELIVERY_DEADLINE_MS,
      retryDelaysSeconds: config.RETRY_DELAYS_SECONDS,
      publicUrl: config.PUBLIC_URL,
      headerWord: config.HEADER_WORD,
    }),
  );
  const notifier = startNotifier({
    url: config.DATABASE_URL,
    applicationName: "webhook notifier",
    subscriptions: { webhook_deliveries: () => sender.wake() },
    onDisconnect: (err) => log.warn({ err }, "no notifications of new deliveries: polling"),
  });
  life.own("notifier", withStopTimeout(notifier, NOTIFIER_STOP_MS));
}
