import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { startRedisContainer } from "./redis-container.ts";
import { startRedisProcess } from "./redis-process.ts";

/** A Redis of one's own: empty, loopback only, without persistence. It is gone when the process that started it is. */
export interface RedisServer {
  readonly url: string;
  /** Of the process that runs now, or ran last. */
  readonly pid: number;
  /** Keeps its connections, accepts more, answers nothing (SIGSTOP). */
  freeze(): Promise<void>;
  /** Answers again, also what was asked meanwhile. */
  thaw(): Promise<void>;
  /** Gone without a word, as by a power cut (SIGKILL); resolves when its port is closed. */
  kill(): Promise<void>;
  /** After `kill`: again, on the same port, empty. Resolves when it answers. */
  start(): Promise<void>;
  /** Gone for good. Any number of calls, in any state. */
  stop(): Promise<void>;
}

/** Names and values as in redis.conf. */
export type RedisSettings = Readonly<Record<string, string>>;

/**
 * Starts a Redis on a free port and resolves when it answers. Runs the binary that `findRedisServer` finds, else a
 * container of `$REDIS_IMAGE`.
 */
export async function startRedisServer(settings: RedisSettings = {}): Promise<RedisServer> {
  const binary = findRedisServer();
  if (binary !== undefined) return startRedisProcess(binary, settings);
  const image = process.env["REDIS_IMAGE"];
  if (image !== undefined) return startRedisContainer(image, settings);
  throw new Error("There is no redis-server. deploy/backing-services/ensure.sh gets one, or says what to install.");
}

/** The redis-server to run: `$REDIS_SERVER`, else the first on the PATH. */
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
