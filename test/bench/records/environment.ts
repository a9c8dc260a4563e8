import type { Owned } from "../harness/bench-program.ts";
import { openEnvironment, type Environment } from "../harness/environment.ts";
import { makeKeys, type ApiKeys } from "./database.ts";
import { startLoad, type Load } from "./load/start-load.ts";

/** Process ids. */
export interface Backends {
  readonly postmaster: number;
  readonly redis: readonly number[];
}

export interface RecordsEnvironment extends Environment {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly backends: Backends;
  readonly apiKeys: ApiKeys;
  /** Keys of the first set, by brand number. */
  readonly keys: readonly string[];
  readonly load: Load;
}

/** Starts Postgres, Redis and the load generator, owned by `owned` as every program will be. */
export async function startEnvironment(owned: Owned, profileDir: string | undefined): Promise<RecordsEnvironment> {
  const environment = await openEnvironment(owned, profileDir);
  const redis = await environment.startRedis();
  const postgres = await environment.startPostgres();
  const apiKeys = makeKeys();
  const [keys = []] = apiKeys.sets;
  return {
    ...environment,
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    backends: { postmaster: postgres.pid, redis: [redis.pid] },
    apiKeys,
    keys,
    load: startLoad(environment.start, apiKeys.sets),
  };
}
