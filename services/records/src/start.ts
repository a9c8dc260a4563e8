import { fileURLToPath } from "node:url";
import { directPublisher, openKafkaPublisher, type Publisher } from "@brand-records/event-log";
import type { Lifecycle } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import { ImportServiceService, RecordsServiceService } from "@brand-records/proto/records/v1";
import { IntakeServiceService } from "@brand-records/proto/webhook/v1";
import { connectRpc, service, type ServedService } from "@brand-records/rpc";
import { startService } from "@brand-records/service";
import type { Logger, Registry } from "@brand-records/telemetry";
import type { RecordsConfig } from "./config.ts";
import { relayMetrics } from "./outbox/relay-metrics.ts";
import { OutboxRelay } from "./outbox/relay.ts";
import { importHandlers } from "./rpc/importing.ts";
import { recordsHandlers } from "./rpc/records.ts";
import { oldestSeconds } from "./storage/outbox.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

/** Imports under way at once; each holds a connection from its first line to its commit. */
const IMPORTS_MAX = 4;

/** An event reaches the log within a fraction of a second. */
const WAITING_SECONDS_MAX = 15;

/** Starts the service; answers the ports it listens on. */
export function startRecords(config: RecordsConfig, life: Lifecycle, log: Logger): Promise<{ rpc_port: number; admin_port: number }> {
  const publisher = openPublisher(config, log);
  let relay: OutboxRelay | undefined;
  let oldest = async (): Promise<number> => 0;
  const wire = (db: Database, openOwnPool: (purpose: string, max: number) => Database, registry: Registry): ServedService[] => {
    oldest = () => oldestSeconds(db);
    const metrics = relayMetrics(registry, oldest);
    if (publisher !== undefined) {
      relay = life.own("outbox relay", new OutboxRelay({ databaseUrl: config.DATABASE_URL, publisher, metrics, log }));
    }
    return [
      service(RecordsServiceService, recordsHandlers(db)),
      service(ImportServiceService, importHandlers(openOwnPool("records import", IMPORTS_MAX), IMPORTS_MAX)),
    ];
  };
  // Whoever leads: events that wait for long are not moving, whatever the reason.
  const degraded = async (): Promise<string[]> =>
    relay !== undefined && (!relay.isWell || (await oldest()) > WAITING_SECONDS_MAX) ? ["event log"] : [];
  return startService({ name: "records", config, migrations: MIGRATIONS, life, log, wire, degraded });
}

/** Kafka where it is set, else webhook itself; undefined where neither is: the outbox keeps its events until one is. */
function openPublisher(config: RecordsConfig, log: Logger): Publisher | undefined {
  if (config.KAFKA_BROKERS.length > 0) return openKafkaPublisher(config, "records", log);
  if (config.WEBHOOK_ADDRESS !== undefined) {
    return directPublisher(connectRpc(IntakeServiceService, config.WEBHOOK_ADDRESS, { config, idempotent: ["publishMessages"] }));
  }
  log.warn({}, "neither KAFKA_BROKERS nor WEBHOOK_ADDRESS is set: events wait in the outbox");
  return undefined;
}
