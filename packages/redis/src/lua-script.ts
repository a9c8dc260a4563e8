import type { Redis } from "ioredis";

type LuaScript = (redis: Redis, ...keysAndArguments: (string | number)[]) => Promise<unknown>;

/**
 * Defines a script that Redis runs in one round trip: its text is sent once per connection, then its hash. `name` must be unique among
 * scripts and must not be a command of Redis.
 */
export function luaScript(name: string, numberOfKeys: number, lua: string): LuaScript {
  return (redis, ...keysAndArguments) => {
    if (!(name in redis)) redis.defineCommand(name, { numberOfKeys, lua });
    const scripts = redis as unknown as Record<string, (...keysAndArguments: (string | number)[]) => Promise<unknown>>;
    return scripts[name]!(...keysAndArguments);
  };
}
