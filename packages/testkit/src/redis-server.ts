import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { ControlledServer } from "./controlled-server.ts";
import { startRedisContainer } from "./redis-container.ts";
import { startRedisProcess } from "./redis-process.ts";

/** An empty Redis on loopback, which no other test uses. It keeps nothing on disk: after `kill`, `start` brings it back empty. */
export interface RedisServer extends ControlledServer {
  readonly url: string;
}

/** Names and values as in redis.conf. */
export type RedisSettings = Readonly<Record<string, string>>;

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
