import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort, isAlive } from "@brand-records/postgres/embedded";
import { pingKafka } from "./kafka-request.ts";
import { killWithParent } from "./kill-with-parent.ts";
import { eventually } from "./eventually.ts";
import type { KafkaServer } from "./kafka-server.ts";
import { kafkaSettings, newClusterId } from "./kafka-settings.ts";

const run = promisify(execFile);

const PREFIX = "brand-records-kafka-";
/** Two seconds on an idle machine; tests start several at once on a busy one. */
const START_MS_MAX = 60_000;
const FORMAT_MS_MAX = 60_000;
const OUTPUT_CHARS_KEPT = 20_000;

/** Small and quick to start rather than fast for long. Performance data in the temporary folder would outlive a SIGKILL. */
const JVM = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"];

export interface KafkaProgram {
  /** With the jars. */
  readonly libDir: string;
  readonly java: string;
}

/** A Kafka to run as a child process, not started yet. */
export async function reserveKafkaProcess(program: KafkaProgram): Promise<KafkaServer> {
  await removeLeftovers();
  return new KafkaProcess(program, await freePort(), await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`)));
}

class KafkaProcess implements KafkaServer {
  readonly #program: KafkaProgram;
  readonly #port: number;
  readonly #folder: string;
  #formatted = false;
  #child: ChildProcess | undefined;

  constructor(program: KafkaProgram, port: number, folder: string) {
    this.#program = program;
    this.#port = port;
    this.#folder = folder;
  }

  get brokers(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async start(): Promise<void> {
    if (this.#child !== undefined && !hasExited(this.#child)) throw new Error(`Kafka ${this.pid} is still running`);
    const settingsFile = join(this.#folder, "server.properties");
    // Of the two ports only that of the clients must stay the same.
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
    const { java } = this.#program;
    const child = spawn(java, ["-Xms128m", "-Xmx384m", ...this.#javaArguments("kafka.Kafka"), settingsFile], {
      cwd: this.#folder,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => (output = (output + chunk.toString()).slice(-OUTPUT_CHARS_KEPT)));
    }
    child.once("error", (error) => (output += String(error)));
    killWithParent(child);
    const answered = eventually(async () => hasExited(child) || (await pingKafka(this.#port)), { timeoutMs: START_MS_MAX });
    await answered.catch((error: unknown) => {
      throw new Error(`Kafka did not start on port ${this.#port}: ${output}`, { cause: error });
    });
    // Somebody else's Kafka may have answered on that port.
    if (hasExited(child)) throw new Error(`Kafka did not start on port ${this.#port}: ${output}`);
  }

  async freeze(): Promise<void> {
    process.kill(this.pid, "SIGSTOP");
  }

  async thaw(): Promise<void> {
    process.kill(this.pid, "SIGCONT");
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || hasExited(child)) return;
    child.ref();
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
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

function hasExited(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** Data of processes that were killed before they could stop their Kafka. Another user's are another user's to remove. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(PREFIX) || isAlive(Number.parseInt(name.slice(PREFIX.length), 10))) continue;
    const folder = join(tmpdir(), name);
    if ((await ownerOf(folder)) === process.getuid?.()) await rm(folder, { recursive: true, force: true });
  }
}

/** Answers undefined if it is gone: several processes tidy at once. */
async function ownerOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).uid;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
