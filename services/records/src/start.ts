import { directPublisher, openKafkaPublisher, tracedPublisher, type Publisher } from "@brand-records/event-log";
import type { Lifecycle } from "@brand-records/lifecycle";
import { ImportServiceService, OperatorServiceService, RecordsServiceService } from "@brand-records/proto/records/v1";
import { IntakeServiceService } from "@brand-records/proto/webhook/v1";
import { connectRpc, service } from "@brand-records/rpc";
import { startService, type ServicePorts, type StartedService } from "@brand-records/service-runtime";
import type { Logger, Registry } from "@brand-records/telemetry";
import type { RecordsConfig } from "./config.ts";
import { relayMetrics } from "./outbox/relay-metrics.ts";
import { OutboxRelay } from "./outbox/relay.ts";
import { MIGRATIONS } from "./migrations.ts";
import { importHandlers } from "./rpc/import-records.ts";
import { operatorHandlers } from "./rpc/operator.ts";
import { recordsHandlers } from "./rpc/list-records.ts";

/** Concurrent imports. Each holds a connection from its first line to its commit. */
const IMPORTS_MAX = 4;

/** Usually an event reaches the log within a fraction of a second. */
const EVENT_AGE_SECONDS_MAX = 15;
/** A probe must not wait for a busy pool: the age of some seconds ago is good enough. */
const EVENT_AGE_WAIT_MS = 200;

/** The statement of an import has no limit: the server ends it soon after its process. */
const FOR_COPY = { settings: { client_connection_check_interval: "10000" }, pipeline: false };

/** Starts the service. @returns the ports it listens on */
export async function startRecords(config: RecordsConfig, life: Lifecycle, log: Logger): Promise<ServicePorts> {
  const base = await startService({ name: "records", config, migrations: MIGRATIONS, life, log });
  const { db } = base;
  await startRelay(config, base, life, log);
  return base.serve([
    service(RecordsServiceService, recordsHandlers(db, config.DATABASE_CONNECTIONS_MAX)),
    service(OperatorServiceService, operatorHandlers(db)),
    service(ImportServiceService, importHandlers(base.openPool("records import", IMPORTS_MAX, FOR_COPY), IMPORTS_MAX)),
  ]);
}

/** Without KAFKA_BROKERS and WEBHOOK_ADDRESS there is no relay: the outbox keeps its events until one is set. */
async function startRelay(
  config: RecordsConfig,
  { db, metrics, reportDegraded }: StartedService,
  life: Lifecycle,
  log: Logger,
): Promise<void> {
  const counters = relayMetrics(metrics, db);
  const publisher = await openPublisher(config, metrics, log);
  if (publisher === undefined) return;
  const relay = life.own(
    "outbox relay",
    new OutboxRelay({ databaseUrl: config.DATABASE_URL, publisher: tracedPublisher(publisher, config), metrics: counters, log }),
  );
  // Detects also that the leader, perhaps another process, moves nothing. An age that is not known is none: `postgres` is a check of its own.
  const isLate = async (): Promise<boolean> => ((await counters.oldestSeconds(EVENT_AGE_WAIT_MS)) ?? 0) > EVENT_AGE_SECONDS_MAX;
  reportDegraded("event log", async () => !relay.isHealthy || (await isLate()));
}

/** Returns a publisher to Kafka if it is set, else to webhook if that is; undefined if neither is. */
async function openPublisher(config: RecordsConfig, metrics: Registry, log: Logger): Promise<Publisher | undefined> {
  if (config.KAFKA_BROKERS.length > 0) return openKafkaPublisher(config, "records", log);
  if (config.WEBHOOK_ADDRESS !== undefined) {
    return directPublisher(connectRpc(IntakeServiceService, config.WEBHOOK_ADDRESS, { config, metrics }));
  }
  log.warn({}, "neither KAFKA_BROKERS nor WEBHOOK_ADDRESS is set: events wait in the outbox");
  return undefined;
}
