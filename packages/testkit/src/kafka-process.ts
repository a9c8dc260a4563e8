import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@brand-records/postgres/embedded";
import { ControlledProcess } from "./controlled-process.ts";
import { pingKafka } from "./kafka-request.ts";
import { KAFKA_READY_MS_MAX, kafkaSettings, newClusterId } from "./kafka-settings.ts";
import { makeOwnedFolder, removeOrphanedFolders } from "./owned-folders.ts";

const run = promisify(execFile);

const PREFIX = "brand-records-kafka-";
const FORMAT_MS_MAX = 60_000;

/**
 * Chosen for memory and start time, not for throughput. Without performance data: in the temporary folder it would outlive
 * a SIGKILL.
 */
const JVM = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"];

export interface KafkaProgram {
  /** Contains the jars. */
  readonly libDir: string;
  readonly java: string;
}

/** Prepares a Kafka that will run as a child process. */
export async function reserveKafkaProcess(program: KafkaProgram): Promise<KafkaProcess> {
  await removeOrphanedFolders(PREFIX);
  return new KafkaProcess(program, await freePort(), await makeOwnedFolder(PREFIX));
}

class KafkaProcess extends ControlledProcess {
  readonly #program: KafkaProgram;
  readonly #port: number;
  readonly #folder: string;
  #formatted = false;

  constructor(program: KafkaProgram, port: number, folder: string) {
    super();
    this.#program = program;
    this.#port = port;
    this.#folder = folder;
  }

  get brokers(): string {
    return `127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const settingsFile = join(this.#folder, "server.properties");
    // Only the clients' port must stay the same.
    const settings = kafkaSettings({
      port: this.#port,
      controllerPort: await freePort(),
      listenHost: "127.0.0.1",
      dataDir: join(this.#folder, "data"),
    });
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(settingsFile, lines.join(""));
    if (!this.#formatted) await this.#format(settingsFile);
    this.#formatted = true;
    await this.launch({
      command: this.#program.java,
      args: ["-Xms128m", "-Xmx384m", ...this.#javaArguments("kafka.Kafka"), settingsFile],
      cwd: this.#folder,
      readyMsMax: KAFKA_READY_MS_MAX,
      ping: () => pingKafka(this.#port),
    });
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #format(settingsFile: string): Promise<void> {
    const args = [...this.#javaArguments("kafka.tools.StorageTool"), "format", "-t", newClusterId(), "-c", settingsFile];
    await run(this.#program.java, args, { cwd: this.#folder, timeout: FORMAT_MS_MAX });
  }

  #javaArguments(mainClass: string): string[] {
    return [...JVM, "-cp", join(this.#program.libDir, "*"), mainClass];
  }
}
