import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@brand-records/postgres/embedded";
import { ControlledProcess, startReserved } from "./controlled-server.ts";
import { accessSettings, joiningSettings, kafkaSettings, newClusterId, type KafkaAccess } from "./kafka-settings.ts";
import { makeOwnedFolder, removeOrphanedFolders } from "./owned-folders.ts";
import { pingKafka } from "./ping-kafka.ts";

const run = promisify(execFile);

const PREFIX = "brand-records-kafka-";
const FORMAT_MS_MAX = 60_000;
/** Two seconds on an idle machine; tests start several at the same time on a busy one. */
const READY_MS_MAX = 120_000;

/**
 * Options for little memory and a fast start, at the cost of throughput. Performance data would stay in the temporary folder after a
 * SIGKILL.
 */
const JVM = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"];

/** Starts a Kafka on a free port. Resolves when topics can be created. */
export function startKafkaServer(): Promise<KafkaServer> {
  return startReserved(reserveKafkaServer);
}

/** Prepares a Kafka whose port refuses connections until `start`. Runs the jars in `$KAFKA_LIB_DIR` with `$JAVA`. */
export function reserveKafkaServer(): Promise<KafkaServer> {
  return reserve({});
}

/** Starts a broker that asks its clients for TLS and a login. It has no access rules yet, so that its logins may do nothing. */
export function startSecuredKafkaServer(access: KafkaAccess): Promise<KafkaServer> {
  return startReserved(async () => reserve({ secured: { access, internalPort: await freePort() } }));
}

/** Starts broker 2 of the cluster whose broker 1 runs. Where a partition is, only an assignment says. */
export function startSecondKafkaServer(first: KafkaServer): Promise<KafkaServer> {
  return startReserved(() => reserve({ first }));
}

interface Variant {
  readonly secured?: { readonly access: KafkaAccess; readonly internalPort: number };
  readonly first?: KafkaServer;
}

async function reserve(variant: Variant): Promise<KafkaServer> {
  const { KAFKA_LIB_DIR: libDir, JAVA: java } = process.env;
  if (libDir === undefined || java === undefined) {
    throw new Error("Kafka is missing. Run deploy/backing-services/ensure.sh: it installs one or names what to install.");
  }
  await removeOrphanedFolders(PREFIX);
  return new KafkaServer({ libDir, java }, await freePort(), await makeOwnedFolder(PREFIX), variant);
}

/**
 * An empty Kafka broker on loopback, which no other test uses. Topics exist only once created. `start` after `kill` brings
 * back what was written before.
 */
export class KafkaServer extends ControlledProcess {
  readonly #program: { readonly libDir: string; readonly java: string };
  readonly #port: number;
  readonly #folder: string;
  readonly #variant: Variant;
  readonly #clusterId: string;
  #controllerPort = 0;
  #formatted = false;

  constructor(program: { readonly libDir: string; readonly java: string }, port: number, folder: string, variant: Variant) {
    super();
    this.#program = program;
    this.#port = port;
    this.#folder = folder;
    this.#variant = variant;
    this.#clusterId = variant.first === undefined ? newClusterId() : variant.first.#clusterId;
  }

  /** `host:port`, for KAFKA_BROKERS. */
  get brokers(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** The second listener of a secured broker, which allows everything without TLS and login: for setting access rules. */
  get internalBrokers(): string {
    return `127.0.0.1:${this.#internalPort}`;
  }

  get #internalPort(): number {
    return this.#variant.secured?.internalPort ?? this.#port;
  }

  async start(): Promise<void> {
    const { first, secured } = this.#variant;
    const settingsFile = join(this.#folder, "server.properties");
    // Only the clients' port must stay the same.
    this.#controllerPort = first === undefined ? await freePort() : first.#controllerPort;
    const addresses = { port: this.#port, controllerPort: this.#controllerPort };
    const settings = {
      ...kafkaSettings({ ...addresses, dataDir: join(this.#folder, "data") }),
      ...(secured && accessSettings(secured.access, { ...addresses, internalPort: secured.internalPort })),
      ...(first && joiningSettings(addresses)),
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(settingsFile, lines.join(""), { mode: 0o600 });
    if (!this.#formatted) await this.#format(settingsFile);
    this.#formatted = true;
    await this.launch({
      command: this.#program.java,
      args: ["-Xms128m", "-Xmx384m", ...this.#javaArguments("kafka.Kafka"), settingsFile],
      cwd: this.#folder,
      readyMsMax: READY_MS_MAX,
      ping: () => pingKafka(this.#internalPort),
    });
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** SCRAM's logins are part of the cluster's data. */
  async #format(settingsFile: string): Promise<void> {
    const logins = Object.entries(this.#variant.secured?.access.passwords ?? {});
    const scram = logins.flatMap(([name, password]) => ["--add-scram", `SCRAM-SHA-512=[name=${name},password=${password}]`]);
    const args = [...this.#javaArguments("kafka.tools.StorageTool"), "format", "-t", this.#clusterId, "-c", settingsFile, ...scram];
    await run(this.#program.java, args, { cwd: this.#folder, timeout: FORMAT_MS_MAX });
  }

  #javaArguments(mainClass: string): string[] {
    return [...JVM, "-cp", join(this.#program.libDir, "*"), mainClass];
  }
}
