import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { freePort } from "@brand-records/postgres/embedded";
import { ControlledProcess, type ControlledServer, startReserved } from "./controlled-server.ts";
import { createContainer } from "./docker-container.ts";
import { pingRedis } from "./redis-command.ts";

/** Names and values as in redis.conf. */
type RedisSettings = Readonly<Record<string, string>>;

/** Starts `binary` as a child process. */
export async function startRedisProcess(binary: string, settings: RedisSettings = {}): Promise<RedisProcess> {
  return startReserved(async () => new RedisProcess(binary, await freePort(), settings));
}

class RedisProcess extends ControlledProcess {
  readonly #binary: string;
  readonly #port: number;
  readonly #settings: RedisSettings;

  constructor(binary: string, port: number, settings: RedisSettings) {
    super();
    this.#binary = binary;
    this.#port = port;
    this.#settings = settings;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const settings = { bind: "127.0.0.1", save: "", appendonly: "no", daemonize: "no", loglevel: "warning", ...this.#settings };
    const args = Object.entries({ port: String(this.#port), ...settings }).flatMap(([name, value]) => [`--${name}`, value]);
    await this.launch({ command: this.#binary, args, cwd: "/", ping: () => pingRedis(this.url) });
  }

  stop(): Promise<void> {
    return this.kill();
  }
}

/** Starts the same as `startRedisProcess`, for machines with Docker and no redis-server. */
async function startRedisContainer(
  image: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ControlledServer & { readonly url: string }> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const args = Object.entries({ save: "", appendonly: "no", ...settings }).flatMap(([name, value]) => [`--${name}`, value]);
  const container = await createContainer({
    image,
    service: "redis",
    port,
    containerPort: 6_379,
    command: ["redis-server", ...args],
    ping: () => pingRedis(url),
  });
  await container.start();
  return Object.assign(container, { url });
}

/** An empty Redis on loopback, which no other test uses. It keeps nothing on disk: after `kill`, `start` brings it back empty. */
export interface RedisServer extends ControlledServer {
  readonly url: string;
}

/**
 * Starts a Redis on a free port. Resolves when it responds. Runs the binary that `findRedisServer` finds, otherwise a
 * container of `$REDIS_IMAGE`.
 */
export async function startRedisServer(settings: RedisSettings = {}): Promise<RedisServer> {
  const binary = findRedisServer();
  if (binary !== undefined) return startRedisProcess(binary, settings);
  const image = process.env["REDIS_IMAGE"];
  if (image !== undefined) return startRedisContainer(image, settings);
  throw new Error("redis-server is missing. Run deploy/backing-services/ensure.sh: it installs one or names what to install.");
}

/** Returns the path of the redis-server to run: `$REDIS_SERVER`, otherwise the first on the PATH. */
export function findRedisServer(): string | undefined {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).map((directory) => join(directory, "redis-server"));
  return [process.env["REDIS_SERVER"] ?? "", ...onPath].find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
