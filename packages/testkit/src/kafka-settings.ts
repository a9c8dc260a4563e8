import { randomBytes } from "node:crypto";

export interface KafkaAddresses {
  /** Where clients reach it, and itself. */
  readonly port: number;
  readonly controllerPort: number;
  readonly listenHost: string;
  readonly dataDir: string;
}

/** Settings of a broker that is its own controller, small and quick to start. */
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
    // There is one broker to keep copies, and each partition costs files and time.
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    // A killed broker is let back in when its controller no longer expects the one before: after 9 s unless told otherwise.
    // With 1 s a busy machine would fence one that is well.
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "200",
    // 128 MB unless told otherwise, of a heap of 384.
    "log.cleaner.dedupe.buffer.size": "4194304",
  };
}

/**
 * @returns 16 random bytes in base64url. The first bit is 0, so that the id never begins with `-`: Kafka's command line
 *   would read it as an option (1 of 64 starts failed).
 */
export function newClusterId(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0);
  return bytes.toString("base64url");
}
