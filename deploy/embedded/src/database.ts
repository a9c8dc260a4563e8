import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "@brand-records/postgres/embedded";
import pg from "pg";
import type { LauncherConfig } from "./config.ts";
import { ROOT, type LocalFiles, type Secrets } from "./local-files.ts";
import { LaunchError } from "./requirements.ts";
import type { SupervisorEvents } from "./supervisor.ts";

/** The services. Each has a schema, a role and a process. */
export const SERVICES = ["accounts", "plans", "records", "webhook"] as const;

export type ServiceName = (typeof SERVICES)[number];

/** A quarter of the default for shared_buffers takes 6 MiB less before any page is read. The system caches the files, too. */
const SETTINGS = { shared_buffers: "32MB" };
const DATABASE = "brand_records";
/** Login with the role `platform`: writes the records as the platform would. */
const PLATFORM_LOGIN = "platform_backend";
const PLATFORM_ROLE = join(ROOT, "services/records/platform-role.sql");

type DatabaseEvents = Pick<SupervisorEvents, "died" | "recovered">;

export interface RunningDatabase {
  /** Returns a service's connection URL. */
  urlFor(service: ServiceName): string;
  /**
   * Returns the connection URL for writing records; call it once records has created their tables. In the embedded server
   * the login has only the role `platform`; with DATABASE_URL it is that URL, the only one known.
   */
  platformUrl(): Promise<string>;
  /** Returns the connection URL of a superuser; with DATABASE_URL, that. */
  readonly ownerUrl: string;
  stop(): Promise<void>;
}

/** Starts a database of the run: an embedded server, between which brands can move, or DATABASE_URL for all services if it is set. */
export async function startDatabase(
  config: LauncherConfig,
  files: LocalFiles,
  secrets: Secrets,
  events: DatabaseEvents,
  killed: AbortSignal,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningDatabase> {
  const { DATABASE_URL: given } = config;
  if (given !== undefined) {
    await requireReachable(given);
    return { urlFor: () => given, platformUrl: async () => given, ownerUrl: given, stop: async () => {} };
  }
  const password = secrets.postgresPassword;
  const options = { user: "postgres", settings: { ...SETTINGS, ...settings }, dataDir: files.database, password, killed };
  const start = (port?: number): Promise<EmbeddedPostgres> => startEmbeddedPostgres({ ...options, ...(port !== undefined && { port }) });
  const server = await start();
  await createRoles(server.url, password);
  const keeper = keepRunning(server, start, events, killed);
  const urlFor = (role: string): string => urlOf(server.url, role, rolePassword(password, role));
  const ownerUrl = urlOf(server.url, "postgres", password);
  return {
    urlFor,
    ownerUrl,
    async platformUrl() {
      await createPlatformLogin(ownerUrl, password);
      return urlFor(PLATFORM_LOGIN);
    },
    stop: () => keeper.stop(),
  };
}

/**
 * Services wait for a database that is away, which on a terminal would look like a start that hangs.
 *
 * @throws LaunchError
 */
async function requireReachable(url: string): Promise<void> {
  try {
    await onConnection(url, (client) => client.query("select 1"));
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    throw new LaunchError(`The database of DATABASE_URL cannot be used: ${message || String(code)}`, { cause: error });
  }
}

/** With the driver alone: @brand-records/postgres would bring the memory of metrics, logs and traces. */
export async function onConnection(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: "launcher", ...BOUNDS });
  // Without a listener a lost connection would end the process; the running query rejects as well.
  client.on("error", () => {});
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end();
  }
}

const RESTART_PAUSE_MS = 500;
const BOUNDS = { connectionTimeoutMillis: 2_000, query_timeout: 12_000 };

/** Restarts the server on the same port whenever it exits unexpectedly, so that the services' pools reconnect. */
function keepRunning(
  first: EmbeddedPostgres,
  start: (port: number) => Promise<EmbeddedPostgres>,
  events: DatabaseEvents,
  killed: AbortSignal,
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
    if (stopping || killed.aborted) return;
    events.died("database", "it exited unexpectedly", RESTART_PAUSE_MS);
    await restart();
  };
  const watching = watch();
  return {
    async stop() {
      stopping = true;
      await server.stop();
      await watching;
      // A restart may have finished while the first stop ran.
      await server.stop();
    },
  };
}

function urlOf(serverUrl: string, user: string, password: string): string {
  return Object.assign(new URL(serverUrl), { username: user, password, pathname: `/${DATABASE}` }).href;
}

/** Derived per role, so that a leaked service password does not reveal the superuser's. */
function rolePassword(password: string, role: string): string {
  return createHmac("sha256", password).update(role).digest("hex");
}

/** Creates a role per service. Each sees only the schema that it creates itself. */
async function createRoles(superuserUrl: string, password: string): Promise<void> {
  await onConnection(superuserUrl, async (client) => {
    const { rows } = await client.query<{ rolname: string }>("select rolname from pg_roles");
    const roles = new Set(rows.map(({ rolname }) => rolname));
    // Utility statements take no parameters. The passwords are our own hexadecimal, so they need no quoting.
    for (const role of SERVICES) {
      await client.query(`${roles.has(role) ? "alter" : "create"} role ${role} login password '${rolePassword(password, role)}'`);
    }
    const found = await client.query("select 1 from pg_database where datname = $1", [DATABASE]);
    if (found.rows.length === 0) await client.query(`create database ${DATABASE}`);
    for (const role of SERVICES) await client.query(`grant create, temporary on database ${DATABASE} to ${role}`);
  });
}

async function createPlatformLogin(superuserUrl: string, password: string): Promise<void> {
  const role = await readFile(PLATFORM_ROLE, "utf8");
  await onConnection(superuserUrl, async (client) => {
    await client.query(role);
    const found = await client.query("select 1 from pg_roles where rolname = $1", [PLATFORM_LOGIN]);
    const verb = found.rows.length === 0 ? "create" : "alter";
    await client.query(`${verb} role ${PLATFORM_LOGIN} login password '${rolePassword(password, PLATFORM_LOGIN)}'`);
    await client.query(`grant platform to ${PLATFORM_LOGIN}`);
  });
}
