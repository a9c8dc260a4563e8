import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { freePort } from "@brand-records/postgres/embedded";
import { pingKafka } from "./kafka-request.ts";
import { eventually } from "./eventually.ts";
import type { KafkaServer } from "./kafka-server.ts";
import { kafkaSettings, newClusterId } from "./kafka-settings.ts";

const run = promisify(execFile);
const DOCKER_MS_MAX = 60_000;
const START_MS_MAX = 60_000;

/** Inside the container, where nobody else listens. */
const CONTROLLER_PORT = 9_093;
/** The image declares it as a volume: a container that is started again finds it as it was. */
const DATA_DIR = "/var/lib/kafka/data";

/**
 * The same as a Kafka process, for machines with Docker and no Java. The label tells whose container it is: the run
 * removes its own at the end, and deploy/backing-services/ensure.sh those whose process is gone.
 */
export async function reserveKafkaContainer(image: string): Promise<KafkaServer> {
  const port = await freePort();
  const owner = process.env["BRAND_RECORDS_RUN"] ?? String(process.pid);
  const name = `brand-records-kafka-${owner}-${randomBytes(4).toString("hex")}`;
  // The port is ours to choose: with one of Docker's choosing the container would come back on another. Inside it is the
  // same, so that the address Kafka tells its clients leads to it from either side.
  const options = ["--name", name, "--label", `brand-records.run=${owner}`, "--publish", `127.0.0.1:${port}:${port}`];
  const settings = kafkaSettings({ port, controllerPort: CONTROLLER_PORT, listenHost: "0.0.0.0", dataDir: DATA_DIR });
  const env = Object.entries({ ...environmentOf(settings), CLUSTER_ID: newClusterId() });
  await docker("create", ...options, ...env.flatMap(([setting, value]) => ["--env", `${setting}=${value}`]), image);
  let pid = 0;
  let stopped: Promise<void> | undefined;
  return {
    brokers: `127.0.0.1:${port}`,
    get pid() {
      return pid;
    },
    freeze: () => docker("pause", name),
    thaw: () => docker("unpause", name),
    kill: async () => {
      if ((await inspect(name, "{{.State.Running}}")) === "true") await docker("kill", name);
    },
    start: async () => {
      await docker("start", name);
      pid = Number(await inspect(name, "{{.State.Pid}}"));
      await eventually(() => pingKafka(port), { timeoutMs: START_MS_MAX });
    },
    stop: () => (stopped ??= docker("rm", "--force", "--volumes", name)),
  };
}

/** As the image takes settings: `log.dirs` is KAFKA_LOG_DIRS. */
function environmentOf(settings: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(settings).map(([name, value]) => [`KAFKA_${name.toUpperCase().replaceAll(".", "_")}`, value] as const);
  return { ...Object.fromEntries(entries), KAFKA_HEAP_OPTS: "-Xms128m -Xmx384m" };
}

async function docker(...args: readonly string[]): Promise<void> {
  await run("docker", args, { timeout: DOCKER_MS_MAX });
}

async function inspect(name: string, format: string): Promise<string> {
  const { stdout } = await run("docker", ["inspect", "--format", format, name], { timeout: DOCKER_MS_MAX });
  return stdout.trim();
}
