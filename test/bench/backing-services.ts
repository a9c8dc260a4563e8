import { findRedisServer } from "@brand-records/testkit";
import { ensureBackingServices } from "../setup/ensure-backing-services.ts";
import { removeRedisContainers } from "../setup/start-redis.ts";
import type { Owned } from "./owned.ts";

/**
 * Gets what `startRedisServer` runs as `npm test` gets it, and tells it in the environment. A redis-server is preferred to a
 * container: its CPU time can be read.
 *
 * @throws if there is none; ensure.sh has said on stderr what to install
 */
export async function provideRedis(owned: Owned): Promise<void> {
  if (findRedisServer() !== undefined) return;
  const found = await ensureBackingServices("redis");
  // ensure.sh has started one for tests to share.
  if (found.has("REDIS_IMAGE")) await owned.own("redis container", Promise.resolve({ stop: removeRedisContainers }));
  setEnvironment(found);
}

/** As `provideRedis`, for `startKafkaServer`. */
export async function provideKafka(): Promise<void> {
  setEnvironment(await ensureBackingServices("kafka"));
}

function setEnvironment(found: ReadonlyMap<string, string>): void {
  for (const [name, value] of found) process.env[name] = value;
}
