import { randomBytes } from "node:crypto";

interface KafkaAddresses {
  /** Port for clients. */
  readonly port: number;
  readonly controllerPort: number;
  readonly dataDir: string;
}

/** Who may connect to a broker, and how it proves itself. */
export interface KafkaAccess {
  /** PEM of the broker's certificate and key, as text. */
  readonly cert: string;
  readonly key: string;
  /** Passwords by login, for PLAIN and SCRAM-SHA-512. */
  readonly passwords: Readonly<Record<string, string>>;
}

/**
 * Returns what a broker has in addition, or instead, so that its clients need TLS and a login, and may do only what an access rule
 * allows. A second listener, without TLS, is for the broker itself and for the tests: there everything is allowed.
 */
export function accessSettings(
  access: KafkaAccess,
  { port, controllerPort, internalPort }: Pick<KafkaAddresses, "port" | "controllerPort"> & { readonly internalPort: number },
): Record<string, string> {
  const users = Object.entries(access.passwords).map(([name, password]) => ` user_${name}="${password}"`);
  const module = (name: string): string => `org.apache.kafka.common.security.${name} required`;
  return {
    listeners: `CLIENTS://127.0.0.1:${port},INTERNAL://127.0.0.1:${internalPort},CONTROLLER://127.0.0.1:${controllerPort}`,
    "advertised.listeners": `CLIENTS://127.0.0.1:${port},INTERNAL://127.0.0.1:${internalPort}`,
    "listener.security.protocol.map": "CLIENTS:SASL_SSL,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "INTERNAL",
    "listener.name.clients.ssl.keystore.type": "PEM",
    "listener.name.clients.ssl.keystore.certificate.chain": onOneLine(access.cert),
    "listener.name.clients.ssl.keystore.key": onOneLine(access.key),
    "listener.name.clients.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
    "listener.name.clients.plain.sasl.jaas.config": `${module("plain.PlainLoginModule")}${users.join("")};`,
    "listener.name.clients.scram-sha-512.sasl.jaas.config": `${module("scram.ScramLoginModule")};`,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
  };
}

/** A file of properties ends a value with its line. */
const onOneLine = (pem: string): string => pem.trim().replaceAll("\n", "\\n");

/**
 * Returns what another broker of a cluster has instead: the first is its controller.
 *
 * @param controllerPort that of the first
 */
export function joiningSettings({ port, controllerPort }: Pick<KafkaAddresses, "port" | "controllerPort">): Record<string, string> {
  return {
    "process.roles": "broker",
    "node.id": "2",
    "controller.quorum.voters": `1@127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://127.0.0.1:${port}`,
  };
}

/** Returns the settings of a small broker that is its own controller and starts quickly. */
export function kafkaSettings({ port, controllerPort, dataDir }: KafkaAddresses): Record<string, string> {
  return {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.voters": `1@127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
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
