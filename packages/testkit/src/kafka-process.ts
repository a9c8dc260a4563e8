import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@brand-records/postgres/embedded";
import { ControlledProcess } from "./controlled-server.ts";
import { pingKafka } from "./kafka-request.ts";
import { accessSettings, joiningSettings, KAFKA_READY_MS_MAX, kafkaSettings, newClusterId, type KafkaAccess } from "./kafka-settings.ts";
import { makeOwnedFolder, removeOrphanedFolders } from "./owned-folders.ts";

const run = promisify(execFile);

const PREFIX = "brand-records-kafka-";
const FORMAT_MS_MAX = 60_000;

/**
 * Options for little memory and a fast start, at the cost of throughput. Performance data would stay in the temporary folder after a
 * SIGKILL.
 */
const JVM = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"];

export interface KafkaProgram {
  /** Contains the jars. */
  readonly libDir: string;
  readonly java: string;
}

interface Secured {
  readonly access: KafkaAccess;
  readonly internalPort: number;
}

/** Prepares a Kafka that will run as a child process. */
export async function reserveKafkaProcess(program: KafkaProgram): Promise<KafkaProcess> {
  await removeOrphanedFolders(PREFIX);
  return new KafkaProcess(program, await freePort(), await makeOwnedFolder(PREFIX));
}

/** Prepares one whose clients need TLS and a login. */
export async function reserveSecuredKafkaProcess(program: KafkaProgram, access: KafkaAccess): Promise<KafkaProcess> {
  await removeOrphanedFolders(PREFIX);
  const internalPort = await freePort();
  return new KafkaProcess(program, await freePort(), await makeOwnedFolder(PREFIX), { access, internalPort });
}

/** Prepares a second broker of the cluster. It can start while the first runs. */
export async function reserveSecondKafkaProcess(program: KafkaProgram, first: KafkaProcess): Promise<KafkaProcess> {
  return new KafkaProcess(program, await freePort(), await makeOwnedFolder(PREFIX), undefined, first);
}

export class KafkaProcess extends ControlledProcess {
  readonly #program: KafkaProgram;
  readonly #port: number;
  readonly #folder: string;
  readonly #secured: Secured | undefined;
  readonly #first: KafkaProcess | undefined;
  readonly #clusterId: string;
  #controllerPort = 0;
  #formatted = false;

  constructor(program: KafkaProgram, port: number, folder: string, secured?: Secured, first?: KafkaProcess) {
    super();
    this.#first = first;
    this.#clusterId = first === undefined ? newClusterId() : first.#clusterId;
    this.#program = program;
    this.#port = port;
    this.#folder = folder;
    this.#secured = secured;
  }

  get brokers(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get internalBrokers(): string {
    return `127.0.0.1:${this.#secured?.internalPort ?? this.#port}`;
  }

  async start(): Promise<void> {
    const settingsFile = join(this.#folder, "server.properties");
    // Only the clients' port must stay the same.
    this.#controllerPort = this.#first === undefined ? await freePort() : this.#first.#controllerPort;
    const addresses = { port: this.#port, controllerPort: this.#controllerPort };
    const settings = {
      ...kafkaSettings({ ...addresses, listenHost: "127.0.0.1", dataDir: join(this.#folder, "data") }),
      ...(this.#secured && accessSettings(this.#secured.access, { ...addresses, internalPort: this.#secured.internalPort })),
      ...(this.#first && joiningSettings(addresses)),
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(settingsFile, lines.join(""), { mode: 0o600 });
    if (!this.#formatted) await this.#format(settingsFile);
    this.#formatted = true;
    await this.launch({
      command: this.#program.java,
      args: ["-Xms128m", "-Xmx384m", ...this.#javaArguments("kafka.Kafka"), settingsFile],
      cwd: this.#folder,
      readyMsMax: KAFKA_READY_MS_MAX,
      ping: () => pingKafka(this.#secured?.internalPort ?? this.#port),
    });
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #format(settingsFile: string): Promise<void> {
    const args = [
      ...this.#javaArguments("kafka.tools.StorageTool"),
      "format",
      "-t",
      this.#clusterId,
      "-c",
      settingsFile,
      ...this.#scramArguments(),
    ];
    await run(this.#program.java, args, { cwd: this.#folder, timeout: FORMAT_MS_MAX });
  }

  /** SCRAM's logins are part of the cluster's data. */
  #scramArguments(): string[] {
    const logins = Object.entries(this.#secured?.access.passwords ?? {});
    return logins.flatMap(([name, password]) => ["--add-scram", `SCRAM-SHA-512=[name=${name},password=${password}]`]);
  }

  #javaArguments(mainClass: string): string[] {
    return [...JVM, "-cp", join(this.#program.libDir, "*"), mainClass];
  }
}
