import { freePort } from "@brand-records/postgres/embedded";
import { ControlledProcess } from "./controlled-process.ts";
import { startReserved } from "./controlled-server.ts";
import { pingRedis } from "./redis-command.ts";

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
