import { ConfigError, loadConfig, parseEnv, postgresUrl, sharedSettings } from "@brand-records/config";
import { buildLateIndexes } from "@brand-records/postgres";
import { z } from "zod";
import { runJob } from "./run-job.ts";
import { migrationSettings } from "./settings.ts";

/** About five minutes. */
const TRIES_MAX = 60;

const Settings = z.object({
  ...migrationSettings,
  LOG_LEVEL: sharedSettings.LOG_LEVEL,
  /** The service's own database URL: its login gets the rights it needs. Without MIGRATION_DATABASE_URL it migrates, too. */
  DATABASE_URL: postgresUrl.optional(),
});

interface MigrationsOptions {
  /** The name of the service and of its schema. */
  readonly name: string;
  readonly migrations: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The program `migrate.js` of a service: migrates its schema, or makes it, and builds its indexes. */
export async function runMigrations({ name, migrations, env }: MigrationsOptions): Promise<void> {
  const { url, ...config } = loadConfig(() => parseConfig(env));
  await runJob({
    program: "migrate",
    name,
    migrations,
    config: { ...config, MIGRATE_AT_START: "true" },
    url,
    triesMax: TRIES_MAX,
    mustExist: false,
    failure: "could not migrate",
    async work({ db, log }) {
      const built = await buildLateIndexes(db, { url, schema: name, directory: migrations });
      if (built.length > 0) log.info({ built }, "indexes built");
      log.info({}, "the schema is at the version of this release");
    },
  });
}

function parseConfig(env: NodeJS.ProcessEnv): z.output<typeof Settings> & { readonly url: string } {
  const config = parseEnv(Settings, env);
  const url = config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL;
  if (url === undefined) throw new ConfigError(["MIGRATION_DATABASE_URL: is not set, nor is DATABASE_URL"]);
  return { ...config, url };
}
