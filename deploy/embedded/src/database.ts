import { openPool } from "@brand-records/postgres";
import { startEmbeddedPostgres } from "@brand-records/postgres/embedded";
import type { LauncherConfig } from "./config.ts";
import type { LocalFiles, Secrets } from "./local-files.ts";

/** Services with a schema, and a role, of their own. */
const ROLES = ["accounts", "records"] as const;
const DATABASE = "brand_records";

export interface RunningDatabase {
  /** Connection URL for a service. */
  urlFor(service: (typeof ROLES)[number]): string;
  stop(): Promise<void>;
}

/** The database of the run: DATABASE_URL if set, for all services alike, else the embedded server. */
export async function startDatabase(config: LauncherConfig, files: LocalFiles, secrets: Secrets): Promise<RunningDatabase> {
  const { DATABASE_URL: given } = config;
  if (given !== undefined) return { urlFor: () => given, stop: async () => {} };
  const password = secrets.postgresPassword;
  const server = await startEmbeddedPostgres({ dataDir: files.database, user: "postgres", password });
  await createRoles(server.url, password);
  return {
    urlFor: (service) => {
      const url = new URL(server.url);
      url.username = service;
      url.pathname = `/${DATABASE}`;
      return url.href;
    },
    stop: () => server.stop(),
  };
}

/** A role sees its own schema only, which it makes itself. */
async function createRoles(superuserUrl: string, password: string): Promise<void> {
  const db = openPool({ url: superuserUrl, max: 1, applicationName: "launcher" });
  try {
    const roles = new Set((await db.query<{ rolname: string }>("select rolname from pg_roles")).map(({ rolname }) => rolname));
    // The password is hexadecimal, made by us: no quoting needed, and utility statements take no parameters.
    for (const role of ROLES) if (!roles.has(role)) await db.query(`create role ${role} login password '${password}'`);
    const [existing] = await db.query("select 1 from pg_database where datname = $1", [DATABASE]);
    if (existing === undefined) await db.query(`create database ${DATABASE}`);
    for (const role of ROLES) await db.query(`grant create, temporary on database ${DATABASE} to ${role}`);
  } finally {
    await db.stop();
  }
}
