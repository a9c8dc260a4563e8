import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { freePort } from "@brand-records/postgres/embedded";
import { killWithParent } from "./kill-with-parent.ts";
import { eventually } from "./eventually.ts";
import { pingRedis } from "./ping-redis.ts";
import type { RedisServer, RedisSettings } from "./redis-server.ts";

/** Somebody may take the free port before Redis does. */
const START_ATTEMPTS = 5;

/** A redis-server as a child process. */
export async function startRedisProcess(binary: string, settings: RedisSettings = {}): Promise<RedisServer> {
  for (let attempt = 1; ; attempt += 1) {
    const server = new RedisProcess(binary, await freePort(), settings);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.stop();
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

class RedisProcess implements RedisServer {
  readonly #binary: string;
  readonly #port: number;
  readonly #settings: RedisSettings;
  #child: ChildProcess | undefined;

  constructor(binary: string, port: number, settings: RedisSettings) {
    this.#binary = binary;
    this.#port = port;
    this.#settings = settings;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async start(): Promise<void> {
    if (this.#child !== undefined && !hasExited(this.#child)) throw new Error(`redis-server ${this.pid} is still running`);
    const settings = { bind: "127.0.0.1", save: "", appendonly: "no", daemonize: "no", loglevel: "warning", ...this.#settings };
    const args = Object.entries({ port: String(this.#port), ...settings }).flatMap(([name, value]) => [`--${name}`, value]);
    const child = spawn(this.#binary, args, { cwd: "/", detached: true, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("error", (error) => (output += String(error)));
    killWithParent(child);
    await eventually(async () => hasExited(child) || (await pingRedis(this.#port)));
    // Somebody else's Redis may have answered on that port.
    if (hasExited(child)) throw new Error(`${this.#binary} did not start on port ${this.#port}: ${output}`);
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

  stop(): Promise<void> {
    return this.kill();
  }
}

function hasExited(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
