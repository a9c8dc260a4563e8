import { startRedisServer } from "@brand-records/testkit";
import { provideRedis } from "../backing-services.ts";
import { makeFolder, postmasterOf, removeFolder, removeLeftovers, startDatabase } from "../folder.ts";
import type { Owned } from "../owned.ts";
import { startProgram, type Program, type ProgramOptions } from "../program.ts";
import type { Backends } from "./measure.ts";

/** The servers of a run, and what starts its programs. */
export interface Environment {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly backends: Backends;
  /** Starts another Redis, for another product. */
  startRedis(): Promise<{ readonly url: string; readonly pid: number }>;
  readonly start: (program: ProgramOptions) => Program;
  /** Started so far. */
  readonly programs: readonly Program[];
}

/** Starts Postgres and Redis, owned by `owned` as every program will be. */
export async function startEnvironment(owned: Owned, profileDir: string | undefined): Promise<Environment> {
  await removeLeftovers();
  await provideRedis(owned);
  const folder = await owned.own("temporary folder", makeFolder(), removeFolder);
  const database = await owned.own("postgres", startDatabase(folder));
  const startRedis = (): ReturnType<typeof startRedisServer> => owned.own("redis", startRedisServer());
  const redis = await startRedis();
  const programs: Program[] = [];
  return {
    databaseUrl: database.url,
    redisUrl: redis.url,
    backends: { postmaster: await postmasterOf(folder), redis: [redis.pid] },
    startRedis,
    programs,
    start(options) {
      const program = startProgram(options, { folder, profileDir });
      programs.push(program);
      void owned.own(program.name, Promise.resolve(program));
      return program;
    },
  };
}
