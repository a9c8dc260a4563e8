import { randomBytes } from "node:crypto";

/** Two seconds on an idle machine; tests start several at the same time on a busy one. */
export const KAFKA_READY_MS_MAX = 60_000;

export interface KafkaAddresses {
  /** For clients. */
  readonly port: number;
  readonly controllerPort: number;
  readonly listenHost: string;
  readonly dataDir: string;
}

/** Returns the settings of a small broker that is its own controller and starts quickly. */
export function kafkaSettings({ port, controllerPort, listenHost, dataDir }: KafkaAddresses): Record<string, string> {
  return {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.voters": `1@127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://${listenHost}:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${port}`,
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "log.dirs": dataDir,
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    // One broker holds one copy; each partition costs files and time.
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    // A killed broker can rejoin once its controller's session for the previous one expires: by default after 9 s. With 1 s a
    // busy machine would fence a healthy broker.
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "200",
    // The default, 128 MB, is a third of the heap.
    "log.cleaner.dedupe.buffer.size": "4194304",
  };
}

/**
 * Returns 16 random bytes in base64url. The first bit is 0, so that the id never begins with `-`: Kafka's command line would
 * read that as an option (1 of 64 starts failed).
 */
export function newClusterId(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0);
  return bytes.toString("base64url");
}
