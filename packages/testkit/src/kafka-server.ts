import { freePort } from "@brand-records/postgres/embedded";
import { type ControlledServer, startReserved } from "./controlled-server.ts";
import { createContainer } from "./docker-container.ts";
import {
  KafkaProcess,
  type KafkaProgram,
  reserveKafkaProcess,
  reserveSecondKafkaProcess,
  reserveSecuredKafkaProcess,
} from "./kafka-process.ts";
import { pingKafka } from "./kafka-request.ts";
import { KAFKA_READY_MS_MAX, type KafkaAccess, kafkaSettings, newClusterId } from "./kafka-settings.ts";

/** Inside the container, where no other process listens. */
const CONTROLLER_PORT = 9_093;
/** The image declares it as a volume: its contents survive a restart of the container. */
const DATA_DIR = "/var/lib/kafka/data";

/** Creates the same as `reserveKafkaProcess`, for machines with Docker and no Java. */
async function reserveKafkaContainer(image: string): Promise<ControlledServer & { readonly brokers: string }> {
  const port = await freePort();
  const settings = kafkaSettings({ port, controllerPort: CONTROLLER_PORT, listenHost: "0.0.0.0", dataDir: DATA_DIR });
  const container = await createContainer({
    image,
    service: "kafka",
    port,
    // The same inside: the address that Kafka advertises to its clients must lead to it from either side.
    containerPort: port,
    env: { ...environmentOf(settings), KAFKA_HEAP_OPTS: "-Xms128m -Xmx384m", CLUSTER_ID: newClusterId() },
    readyMsMax: KAFKA_READY_MS_MAX,
    ping: () => pingKafka(port),
  });
  return Object.assign(container, { brokers: `127.0.0.1:${port}` });
}

/** Spells settings as the image takes them: `log.dirs` is KAFKA_LOG_DIRS. */
function environmentOf(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [`KAFKA_${name.toUpperCase().replaceAll(".", "_")}`, value]));
}

/**
 * An empty Kafka broker on loopback, which no other test uses. Topics exist only once created. `start` after `kill` brings
 * back what was written before.
 */
export interface KafkaServer extends ControlledServer {
  /** `host:port`, for KAFKA_BROKERS. */
  readonly brokers: string;
}

/** A broker whose clients need TLS, a login and access rules. */
export interface SecuredKafkaServer extends KafkaServer {
  /** Another listener of it, where everything is allowed without TLS and login: for setting access rules. */
  readonly internalBrokers: string;
}

/** Starts a Kafka on a free port. Resolves when topics can be created. */
export function startKafkaServer(): Promise<KafkaServer> {
  return startReserved(reserveKafkaServer);
}

/**
 * Prepares a Kafka whose port refuses connections until `start`. Runs the jars in `$KAFKA_LIB_DIR` with `$JAVA`, otherwise a
 * container of `$KAFKA_IMAGE`.
 */
export async function reserveKafkaServer(): Promise<KafkaServer> {
  const { KAFKA_LIB_DIR: libDir, JAVA: java, KAFKA_IMAGE: image } = process.env;
  if (libDir !== undefined && java !== undefined) return reserveKafkaProcess({ libDir, java });
  if (image !== undefined) return reserveKafkaContainer(image);
  throw new Error("Kafka is missing. Run deploy/backing-services/ensure.sh: it installs one or names what to install.");
}

/** Starts a broker that asks its clients for TLS and a login. It has no access rules yet, so that its logins may do nothing. */
export function startSecuredKafkaServer(access: KafkaAccess): Promise<SecuredKafkaServer> {
  return startReserved(() => reserveSecuredKafkaProcess(programFor("A Kafka with TLS"), access));
}

/** Starts broker 2 of the cluster whose broker 1 runs. Where a partition is, only an assignment says. */
export function startSecondKafkaServer(first: KafkaServer): Promise<KafkaServer> {
  const program = programFor("A second broker");
  if (!(first instanceof KafkaProcess)) throw new Error("Broker 1 must run from Kafka's jars.");
  return startReserved(() => reserveSecondKafkaProcess(program, first));
}

function programFor(what: string): KafkaProgram {
  const { KAFKA_LIB_DIR: libDir, JAVA: java } = process.env;
  if (libDir !== undefined && java !== undefined) return { libDir, java };
  throw new Error(`${what} runs from its jars. Install Java 17 and Maven; deploy/backing-services/ensure.sh fetches them.`);
}
