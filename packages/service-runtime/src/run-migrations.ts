import { ConfigError, loadConfig, parseEnv, postgresUrl, sharedSettings } from "@brand-records/config";
import { reportFailure } from "@brand-records/lifecycle";
import { buildLateIndexes, openPool } from "@brand-records/postgres";
import { openLog } from "@brand-records/telemetry";
import { z } from "zod";
import { prepareSchema } from "./prepare-schema.ts";
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

/** The program `migrate.js` of a service: migrates its schema and exits with 0, with 78 if only a person can fix the reason, or with 1. */
export async function runMigrations({ name, migrations, env }: MigrationsOptions): Promise<void> {
  const config = loadConfig(() => parseConfig(env));
  const log = openLog(`migrate ${name}`, config.LOG_LEVEL);
  try {
    await prepareSchema({ name, migrations, config: { ...config, MIGRATE_AT_START: "true" }, log, triesMax: TRIES_MAX });
    const db = openPool({ url: config.owner, max: 1, applicationName: `migrate ${name}` });
    try {
      const built = await buildLateIndexes(db, { url: config.owner, schema: name, directory: migrations });
      if (built.length > 0) log.info({ built }, "indexes built");
    } finally {
      await db.stop();
    }
    log.info({}, "the schema is at the version of this release");
  } catch (error) {
    process.exitCode = reportFailure(error, log, "could not migrate");
  }
}

function parseConfig(env: NodeJS.ProcessEnv): z.output<typeof Settings> & { readonly owner: string } {
  const config = parseEnv(Settings, env);
  const owner = config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL;
  if (owner === undefined) throw new ConfigError(["MIGRATION_DATABASE_URL: is not set, nor is DATABASE_URL"]);
  return { ...config, owner };
}
