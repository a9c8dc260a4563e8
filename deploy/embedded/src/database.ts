import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openPool } from "@brand-records/postgres";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "@brand-records/postgres/embedded";
import type { LauncherConfig } from "./config.ts";
import { ROOT, type LocalFiles, type Secrets } from "./local-files.ts";
import { SERVICES, type ServiceName } from "./services.ts";
import type { SupervisorEvents } from "./supervisor.ts";

const DATABASE = "brand_records";
/** Writes the records in the platform's stead: a login with the role `platform`. */
const PLATFORM_LOGIN = "platform_backend";
const PLATFORM_ROLE = join(ROOT, "services/records/platform-role.sql");

export type DatabaseEvents = Pick<SupervisorEvents, "died" | "recovered">;

export interface RunningDatabase {
  /** Connection URL for a service. */
  urlFor(service: ServiceName): string;
  /**
   * Connection URL for whoever writes the records, once records has made their tables. In the embedded server it has the
   * role `platform` and no more; of a database that was given, nothing is known but its one URL.
   */
  platformUrl(): Promise<string>;
  stop(): Promise<void>;
}

/** The database of the run: DATABASE_URL if set, for all services alike, else the embedded server. */
export async function startDatabase(
  config: LauncherConfig,
  files: LocalFiles,
  secrets: Secrets,
  events: DatabaseEvents,
): Promise<RunningDatabase> {
  const { DATABASE_URL: given } = config;
  if (given !== undefined) return { urlFor: () => given, platformUrl: async () => given, stop: async () => {} };
  const password = secrets.postgresPassword;
  const start = (port?: number): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({ dataDir: files.database, user: "postgres", password, ...(port !== undefined && { port }) });
  const server = await start();
  await createRoles(server.url, password);
  const keeper = keepRunning(server, start, events);
  const urlFor = (role: string): string => urlOf(server.url, role, rolePassword(password, role));
  return {
    urlFor,
    async platformUrl() {
      await createPlatformLogin(urlOf(server.url, "postgres", password), password);
      return urlFor(PLATFORM_LOGIN);
    },
    stop: () => keeper.stop(),
  };
}

const RESTART_PAUSE_MS = 500;

/** Starts the server again whenever it ends by itself, on the port it had: the services' pools find it there. */
function keepRunning(
  first: EmbeddedPostgres,
  start: (port: number) => Promise<EmbeddedPostgres>,
  events: DatabaseEvents,
): { stop(): Promise<void> } {
  let server = first;
  let stopping = false;
  const restart = async (): Promise<void> => {
    while (!stopping) {
      await new Promise((resolve) => setTimeout(resolve, RESTART_PAUSE_MS));
      try {
        server = await start(first.port);
        if (stopping) return;
        events.recovered("database");
        return watch();
      } catch (error) {
        events.died("database", String(error), RESTART_PAUSE_MS);
      }
    }
  };
  const watch = async (): Promise<void> => {
    await server.exited;
    if (stopping) return;
    events.died("database", "it ended by itself", RESTART_PAUSE_MS);
    await restart();
  };
  const watching = watch();
  return {
    async stop() {
      stopping = true;
      await server.stop();
      await watching;
      // Started again in the very moment of stopping.
      await server.stop();
    },
  };
}

function urlOf(serverUrl: string, user: string, password: string): string {
  return Object.assign(new URL(serverUrl), { username: user, password, pathname: `/${DATABASE}` }).href;
}

/** A service that gave its password away would not give away the superuser's. */
function rolePassword(password: string, role: string): string {
  return createHmac("sha256", password).update(role).digest("hex");
}

/** A role sees its own schema only, which it makes itself. */
async function createRoles(superuserUrl: string, password: string): Promise<void> {
  const db = openPool({ url: superuserUrl, max: 1, applicationName: "launcher" });
  try {
    const roles = new Set((await db.query<{ rolname: string }>("select rolname from pg_roles")).map(({ rolname }) => rolname));
    // The passwords are hexadecimal, made by us: no quoting needed, and utility statements take no parameters.
    for (const role of SERVICES) {
      await db.query(`${roles.has(role) ? "alter" : "create"} role ${role} login password '${rolePassword(password, role)}'`);
    }
    const [existing] = await db.query("select 1 from pg_database where datname = $1", [DATABASE]);
    if (existing === undefined) await db.query(`create database ${DATABASE}`);
    for (const role of SERVICES) await db.query(`grant create, temporary on database ${DATABASE} to ${role}`);
  } finally {
    await db.stop();
  }
}

async function createPlatformLogin(superuserUrl: string, password: string): Promise<void> {
  const db = openPool({ url: superuserUrl, max: 1, applicationName: "launcher" });
  try {
    await db.query(await readFile(PLATFORM_ROLE, "utf8"));
    const [existing] = await db.query("select 1 from pg_roles where rolname = $1", [PLATFORM_LOGIN]);
    const verb = existing === undefined ? "create" : "alter";
    await db.query(`${verb} role ${PLATFORM_LOGIN} login password '${rolePassword(password, PLATFORM_LOGIN)}'`);
    await db.query(`grant platform to ${PLATFORM_LOGIN}`);
  } finally {
    await db.stop();
  }
}
