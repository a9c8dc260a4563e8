import { withTimeout } from "@brand-records/lifecycle";
import type { Logger } from "@brand-records/telemetry";
import { Kafka, logLevel, type KafkaConfig, type LogEntry, type SASLOptions } from "kafkajs";
import type { EventLogConfig } from "../settings.ts";
import "./quiet-request-queue.ts";

const CONNECT_MS = 3_000;
/** A frozen broker keeps a request open: after this it counts as lost. Longer than a healthy broker ever takes. */
const REQUEST_MS = 10_000;

const DISCONNECT_MS = 2_000;

/** kafkajs with our log and our patience. It retries little: whoever uses it tries again from the beginning, for ever. */
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
    ssl: config.KAFKA_TLS === "true",
    ...(sasl !== undefined && { sasl }),
    logLevel: logLevel.WARN,
    // While brokers are away kafkajs reports every attempt as an error; ours says once that they are.
    logCreator: () => write(log),
  };
  return new Kafka(options);
}

/** Waits until a client has disconnected, at most `timeoutMs`. Ignores failures: brokers that are gone do not complete a disconnect. */
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
