import { readPem } from "@brand-records/config";
import { withTimeout } from "@brand-records/lifecycle";
import type { Logger } from "@brand-records/telemetry";
import { Kafka, logLevel, type KafkaConfig, type LogEntry, type SASLOptions } from "kafkajs";
import RequestQueue from "kafkajs/src/network/requestQueue/index.js";
import type { EventLogConfig } from "../settings.ts";
import "./partition-errors.ts";

const CONNECT_MS = 3_000;
/** A frozen broker keeps a request open: after this it counts as lost. Longer than a healthy broker ever takes. */
const REQUEST_MS = 10_000;
const DISCONNECT_MS = 2_000;

/** Opens kafkajs with our log and timeouts. It retries little: its callers start again from the beginning, indefinitely. */
export function openKafka(config: EventLogConfig, clientId: string, log: Logger): Kafka {
  const sasl = saslOf(config);
  const options: KafkaConfig = {
    clientId,
    brokers: [...config.KAFKA_BROKERS],
    connectionTimeout: CONNECT_MS,
    authenticationTimeout: REQUEST_MS,
    requestTimeout: REQUEST_MS,
    enforceRequestTimeout: true,
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 3 },
    ssl: config.KAFKA_TLS === "true" && (config.KAFKA_TLS_CA === undefined || { ca: [readPem("KAFKA_TLS_CA", config.KAFKA_TLS_CA)] }),
    ...(sasl !== undefined && { sasl }),
    logLevel: logLevel.WARN,
    // While brokers are unavailable, kafkajs logs every attempt as an error. We log the outage where we retry.
    logCreator: () => write(log),
  };
  return new Kafka(options);
}

/** Waits until a client has disconnected, at most `timeoutMs`. Ignores failures: a broker that is gone completes no disconnect. */
export async function disconnect(client: { disconnect(): Promise<void> }, timeoutMs = DISCONNECT_MS): Promise<void> {
  await withTimeout(client.disconnect(), timeoutMs).catch(() => {});
}

const write =
  (log: Logger) =>
  ({ log: entry }: LogEntry): void => {
    const { message, ...fields } = entry;
    log.debug({ kafka: fields }, message);
  };

function saslOf(config: EventLogConfig): SASLOptions | undefined {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = config;
  if (mechanism === undefined) return undefined;
  return { mechanism, username: username ?? "", password: password ?? "" };
}

const { prototype } = RequestQueue;
const scheduleCheck = prototype.scheduleCheckPendingRequests;

/**
 * kafkajs 2.2.4 starts a timer after every request and every response, even if nothing is pending: with a delay in the past, which
 * Node 24 warns about, and again every millisecond, which takes 2% of a CPU. This starts it only while requests are pending; a
 * request that becomes pending later starts its own.
 */
prototype.scheduleCheckPendingRequests = function scheduleIfPending(): void {
  if (this.pending.length > 0) scheduleCheck.call(this);
};
