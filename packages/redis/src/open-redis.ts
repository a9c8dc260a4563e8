import { parseRedisUrl } from "@brand-records/config";
import { GuardedRedis } from "./guarded-redis.ts";
import type { RedisClient, RedisClientOptions } from "./redis-client.ts";
import { RedisCluster } from "./redis-cluster.ts";

/** @param url see parseRedisUrl; nothing needs to be reachable yet, `firstContact` waits for it */
export function openRedis(url: string, options: RedisClientOptions = {}): RedisClient {
  const address = parseRedisUrl(url);
  return address.isCluster ? new RedisCluster(address, options) : openServer(url, options);
}

function openServer(url: string, { onPossibleLoss, onStateChange, ...options }: RedisClientOptions): RedisClient {
  let wasUp = false;
  const server = new GuardedRedis(url, {
    ...options,
    onStateChange: (isUp, cause) => {
      if (isUp && wasUp) onPossibleLoss?.();
      wasUp ||= isUp;
      onStateChange?.(isUp, cause);
    },
  });
  return {
    get isUp() {
      return server.isUp;
    },
    firstContact: server.firstContact,
    run: (_key, command) => server.run(command),
    stop: () => server.stop(),
  };
}
