import { freePort } from "@brand-records/postgres/embedded";
import { ControlledProcess, startReserved } from "./controlled-server.ts";
import { pingRedis } from "./redis-command.ts";

/** Names and values as in redis.conf. */
type RedisSettings = Readonly<Record<string, string>>;

/** Starts `$REDIS_SERVER` on a free port. Resolves when it responds. */
export function startRedisServer(settings: RedisSettings = {}): Promise<RedisServer> {
  const binary = process.env["REDIS_SERVER"];
  if (binary === undefined) {
    throw new Error("redis-server is missing. Run deploy/backing-services/ensure.sh: it installs one or names what to install.");
  }
  return startReserved(async () => new RedisServer(binary, await freePort(), settings));
}

/** An empty Redis on loopback, which no other test uses. It keeps nothing on disk: after `kill`, `start` brings it back empty. */
export class RedisServer extends ControlledProcess {
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
