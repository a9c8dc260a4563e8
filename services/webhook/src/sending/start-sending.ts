import { startNotifier, type Database } from "@brand-records/postgres";
import { type Clock, type Lifecycle, withStopTimeout } from "@brand-records/lifecycle";
import type { Maintenance } from "@brand-records/service-runtime";
import type { Logger } from "@brand-records/telemetry";
import type { WebhookConfig } from "../config.ts";
import { leaseSecondsFor } from "../domain/delivery.ts";
import { startLeaseKeeper } from "./expired-leases.ts";
import { ReceiverAgent, type ReceiverAgentOptions } from "./receiver-agent.ts";
import { Sender } from "./sender.ts";
import type { SendingMetrics } from "./sending-metrics.ts";

/** Short: the notifier has nothing to finish, and if the database does not respond, the sender needs the rest of the stop's time. */
const NOTIFIER_STOP_MS = 200;

/** The proxy's share of an attempt's deadline: one that hangs must be noticed before the attempt counts as the receiver's timeout. */
const PROXY_SHARE = 2 / 3;

export interface SendingStart {
  readonly config: WebhookConfig;
  readonly db: Database;
  readonly clock: Clock;
  readonly life: Lifecycle;
  readonly maintenance: Maintenance;
  readonly metrics: SendingMetrics;
  readonly log: Logger;
}

export function startSending({ config, db, clock, life, maintenance, metrics, log }: SendingStart): Sender {
  const allowLoopback = config.RECEIVERS_ON_LOOPBACK === "true";
  if (allowLoopback) log.warn({}, "RECEIVERS_ON_LOOPBACK is set: deliveries may go to this machine, without TLS");
  const agent = new ReceiverAgent({
    dnsServers: config.RECEIVER_DNS_SERVERS,
    allowLoopback,
    connectionsMax: config.SENDING_MAX,
    proxy: proxyOf(config, log),
    proxyMsMax: config.DELIVERY_DEADLINE_MS * PROXY_SHARE,
  });
  life.own("connections to receivers", agent);
  const terms = { leaseSeconds: leaseSecondsFor(config.DELIVERY_DEADLINE_MS), attemptsMax: config.RETRY_DELAYS_SECONDS.length + 1 };
  life.own("lease keeper", startLeaseKeeper({ db, terms, maintenance, metrics, log }));
  const sender = life.own(
    "sender",
    new Sender({
      db,
      clock,
      keys: config.RECEIVER_SECRET_KEYS,
      agent,
      metrics,
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
  return sender;
}

function proxyOf({ EGRESS_PROXY_URL: address, EGRESS_PROXY_MODE: mode }: WebhookConfig, log: Logger): ReceiverAgentOptions["proxy"] {
  if (address === undefined) return undefined;
  log.info({ proxy: `${address.host}:${address.port}`, mode }, "deliveries pass an egress proxy");
  return { address, mode };
}
