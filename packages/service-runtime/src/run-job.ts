import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { ConfigError } from "@brand-records/config";
import { reportFailure } from "@brand-records/lifecycle";
import { openPool, type Database } from "@brand-records/postgres";
import { openLog, type Logger } from "@brand-records/telemetry";
import { prepareSchema, type SchemaOptions } from "./prepare-schema.ts";

/** About two seconds: a network policy may take effect after its pod has started. Who runs the program sees the failure, and repeats it. */
const TRIES_MAX = 4;

export interface Job {
  readonly db: Database;
  readonly log: Logger;
}

interface JobOptions extends Omit<SchemaOptions, "log"> {
  /** Such as `re-encrypt`. */
  readonly program: string;
  readonly config: SchemaOptions["config"] & { readonly LOG_LEVEL: string };
  /** URL of the login that does the work. Default: `config.DATABASE_URL`. */
  readonly url?: string;
  /** What a failure means, for the log. */
  readonly failure: string;
  work(job: Job): Promise<void>;
}

/** Runs a program of a service beside its processes, and sets the exit code: 0 when all is done, 78 if only a person can fix the reason, else 1. */
export async function runJob({ program, url, failure, work, ...options }: JobOptions): Promise<void> {
  const { name, config } = options;
  const log = openLog(`${program} ${name}`, config.LOG_LEVEL);
  const db = openPool({ url: url ?? config.DATABASE_URL ?? "", max: 1, applicationName: `${program} ${name}` });
  try {
    await prepareSchema({ triesMax: TRIES_MAX, mustExist: true, ...options, log });
    await work({ db, log });
  } catch (error) {
    process.exitCode = reportFailure(error, log, failure);
  } finally {
    await db.stop();
  }
}

/** Parses the options of this program. @throws ConfigError that names what is unknown or lacks its value */
export function parseOptions<Options extends ParseArgsOptionsConfig>(options: Options) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    throw new ConfigError([(error as Error).message]);
  }
}
