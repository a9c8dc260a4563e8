import { z } from "zod";
import { parseEnv } from "./parse-env.ts";
import { postgresUrl, recordsCellDatabases } from "./settings.ts";

const Settings = z.object({ RECORDS_DATABASE_URL: postgresUrl.optional(), RECORDS_CELL_DATABASES: recordsCellDatabases });

/**
 * Returns the databases of records by the name of the cell, empty for the one without a name: each by a login that owns the schema.
 *
 * @throws ConfigError
 */
export function parseCellDatabases(env: NodeJS.ProcessEnv): ReadonlyMap<string, string> {
  const { RECORDS_DATABASE_URL: unnamed, RECORDS_CELL_DATABASES: named } = parseEnv(Settings, env);
  return new Map([...(unnamed === undefined ? [] : [["", unnamed] as const]), ...Object.entries(named)]);
}
