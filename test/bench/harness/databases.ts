import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { buildLateIndexes, migrate, openPool } from "@brand-records/postgres";
import pg from "pg";
import { ROOT } from "./programs.ts";

/** Sessions of the benchmark log in as this role, so that their statements do not count as the product's. */
const BENCH_ROLE = "bench";

/** The limit of sessions whose statements take seconds: one that waits for ever fails. */
export const BOUNDED = { statement_timeout: 300_000 } as const;

/** A database of its own, with the product's login and the benchmark's. */
export interface BenchDatabase {
  readonly databaseUrl: string;
  readonly benchUrl: string;
}

/** What `pg_stat_statements` needs. Statements inside functions count too, so that claims do wherever they run. */
export const STATEMENT_SETTINGS = { shared_preload_libraries: "pg_stat_statements", "pg_stat_statements.track": "all" } as const;

/** Condition on `pg_stat_statements`: the statement is the product's, in the session's database. */
export const IS_OF_PRODUCT = `dbid = (select oid from pg_database where datname = current_database())
    and userid <> (select oid from pg_roles where rolname = '${BENCH_ROLE}')`;

/** Creates the benchmark's role. Returns a function that creates a database with the extension that counts statements. */
export async function openDatabases(serverUrl: string): Promise<(name: string) => Promise<BenchDatabase>> {
  const password = randomBytes(12).toString("hex");
  await withClient(serverUrl, (client) => client.query(`create role ${BENCH_ROLE} superuser login password '${password}'`));
  return async (name) => {
    const databaseUrl = await createDatabase(serverUrl, name);
    const benchUrl = Object.assign(new URL(databaseUrl), { username: BENCH_ROLE, password }).href;
    await withClient(benchUrl, (client) => client.query("create extension pg_stat_statements"));
    return { databaseUrl, benchUrl };
  };
}

/** Returns the URL of the new database. */
export async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await withClient(serverUrl, (client) => client.query(`create database ${name}`));
  return urlOf(serverUrl, name);
}

function urlOf(server: string, database: string): string {
  return Object.assign(new URL(server), { pathname: `/${database}` }).href;
}

/** Connects for the duration of `use`. */
export async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: "bench" });
  // Errors also reject the query that they break.
  client.on("error", () => {});
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Creates a service's schema by its own migrations, or by those of another checkout, with the indexes that services build after the start. */
export async function migrateService(
  { databaseUrl: url }: Pick<BenchDatabase, "databaseUrl">,
  service: string,
  directory = join(ROOT, "services", service, "migrations"),
): Promise<void> {
  await migrate({ url, schema: service, directory });
  const owner = openPool({ url, applicationName: "bench indexes", max: 1 });
  await buildLateIndexes(owner, { url, schema: service, directory });
  await owner.stop();
}
