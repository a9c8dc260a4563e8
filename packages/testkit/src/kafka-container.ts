import { freePort } from "@brand-records/postgres/embedded";
import type { ControlledServer } from "./controlled-server.ts";
import { createContainer } from "./docker-container.ts";
import { pingKafka } from "./kafka-request.ts";
import { KAFKA_READY_MS_MAX, kafkaSettings, newClusterId } from "./kafka-settings.ts";

/** Inside the container, where no other process listens. */
const CONTROLLER_PORT = 9_093;
/** The image declares it as a volume: its contents survive a restart of the container. */
const DATA_DIR = "/var/lib/kafka/data";

/** Creates the same as `reserveKafkaProcess`, for machines with Docker and no Java. */
export async function reserveKafkaContainer(image: string): Promise<ControlledServer & { readonly brokers: string }> {
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
