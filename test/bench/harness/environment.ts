import { randomBytes } from "node:crypto";
import { chmod, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { deleteEmbeddedData, embeddedDataDir, startEmbeddedPostgres } from "@brand-records/postgres/embedded";
import { makeOwnedFolder, removeOrphanedFolders, startKafkaServer, startRedisServer } from "@brand-records/testkit";
import { ensureBackingServices } from "../../setup/ensure-backing-services.ts";
import type { Owned } from "./bench-program.ts";
import { watchForeign } from "./foreign-cores.ts";
import { startProgram, type Program, type ProgramOptions } from "./programs.ts";

const PREFIX = "brand-records-bench-";

/** The servers and programs of a run, owned by its `Owned`. */
export interface Environment {
  /** Data and logs of this run. */
  readonly folder: string;
  readonly start: (program: ProgramOptions) => Program;
  /** Started so far. */
  readonly programs: readonly Program[];
  /**
   * Starts Postgres with its settings in `npm start`: the defaults, every commit on disk.
   *
   * @param settings that measuring needs in addition
   */
  startPostgres(settings?: Readonly<Record<string, string>>): Promise<{ readonly url: string; readonly pid: number }>;
  /** @throws if Redis cannot be found; ensure.sh then prints on stderr what to install */
  startRedis(): Promise<{ readonly url: string; readonly pid: number }>;
  startKafka(): Promise<{ readonly brokers: string; readonly pid: number }>;
  /** Returns a function that returns how many cores programs outside the run have used since. */
  watchForeign(): Promise<() => Promise<number>>;
}

/**
 * A program that ends by itself ends the benchmark.
 *
 * @param profileDir folder for CPU profiles of all programs, which make everything slower
 */
export async function openEnvironment(owned: Owned, profileDir?: string): Promise<Environment> {
  // Those of benchmarks that were killed before they could remove them.
  await removeOrphanedFolders(PREFIX, removeFolder);
  const folder = await owned.own("folder", makeFolder(), removeFolder);
  const programs: Program[] = [];
  const servers: number[] = [];
  const postmasters: number[] = [];
  return {
    folder,
    programs,
    start(options) {
      const program = startProgram(options, { folder, profileDir });
      programs.push(program);
      program.ended.catch((error: unknown) => owned.fail(error));
      void owned.own(program.name, Promise.resolve(program));
      return program;
    },
    async startPostgres(settings = {}) {
      const dataDir = dataDirIn(folder);
      const starting = startEmbeddedPostgres({ dataDir, password: randomBytes(12).toString("hex"), settings });
      const { url } = await owned.own("postgres", starting);
      const pid = Number.parseInt(await readFile(join(embeddedDataDir(dataDir), "postmaster.pid"), "utf8"), 10);
      postmasters.push(pid);
      return { url, pid };
    },
    async startRedis() {
      setEnvironment(await ensureBackingServices("redis"));
      const redis = await owned.own("redis", startRedisServer());
      servers.push(redis.pid);
      return redis;
    },
    async startKafka() {
      setEnvironment(await ensureBackingServices("kafka"));
      const kafka = await owned.own("kafka", startKafkaServer());
      servers.push(kafka.pid);
      return kafka;
    },
    watchForeign: () => watchForeign({ programs, servers, postmasters }),
  };
}

async function makeFolder(): Promise<string> {
  const folder = await makeOwnedFolder(PREFIX);
  // Under root, Postgres runs as another user, who must be able to enter it.
  await chmod(folder, 0o755);
  return folder;
}

async function removeFolder(folder: string): Promise<void> {
  await deleteEmbeddedData(dataDirIn(folder));
  await rm(folder, { recursive: true, force: true });
}

const dataDirIn = (folder: string): string => join(folder, "postgres");

/** Sets what `startRedisServer` and `startKafkaServer` read, as `npm test` does. */
function setEnvironment(found: ReadonlyMap<string, string>): void {
  for (const [name, value] of found) process.env[name] = value;
}
