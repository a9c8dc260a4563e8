import { findRedisServer } from "@brand-records/testkit";
import { ensureBackingServices } from "../setup/ensure-backing-services.ts";
import { removeContainers } from "../setup/shared-servers.ts";
import type { Owned } from "./owned.ts";

/**
 * Finds what `startRedisServer` needs, as `npm test` does, and sets its environment variables. Prefers redis-server to a
 * container: its CPU time can be read.
 *
 * @throws if Redis cannot be found; ensure.sh then prints on stderr what to install
 */
export async function provideRedis(owned: Owned): Promise<void> {
  if (findRedisServer() !== undefined) return;
  const found = await ensureBackingServices("redis");
  // ensure.sh has started a shared container.
  if (found.has("REDIS_IMAGE")) await owned.own("redis container", Promise.resolve({ stop: () => removeContainers("redis") }));
  setEnvironment(found);
}

/** Does the same for `startKafkaServer`. */
export async function provideKafka(): Promise<void> {
  setEnvironment(await ensureBackingServices("kafka"));
}

function setEnvironment(found: ReadonlyMap<string, string>): void {
  for (const [name, value] of found) process.env[name] = value;
}
