import { Mutex } from "@brand-records/lifecycle";
import pg from "pg";
import { fromPostgresError } from "./errors.ts";
import { KEEPALIVE_MS, RESPONSE_GRACE_MS, run, type Sql } from "./sql.ts";
import { typeParsers } from "./types.ts";

const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 10_000;
/** Interval at which the server, while it runs a statement, checks whether the client is still connected. */
const CONNECTION_CHECK_MS = 1_000;
const KEEPALIVES_PER_IDLE_TIMEOUT = 4;

interface DatabaseSessionOptions {
  readonly url: string;
  readonly applicationName: string;
  /**
   * The server ends a session that sends no statement for this long, and releases its locks: its process froze or its host
   * vanished.
   */
  readonly idleTimeoutMs: number;
  /**
   * Sends a statement four times per `idleTimeoutMs`, so that only a frozen process is idle. Default: true. With false,
   * `idleTimeoutMs` bounds how long the owner may keep the session without using it.
   */
  readonly keepalive?: boolean;
  /** Statement timeout in milliseconds. Default: 10,000. */
  readonly statementTimeoutMs?: number;
}

/** A single connection for advisory locks and LISTEN, which belong to a session. It does not reconnect. */
export interface DatabaseSession extends Sql {
  /** Calls `onNotify` for each NOTIFY on the channel, until the session ends. */
  listen(channel: string, onNotify: () => void): Promise<void>;
  /** Resolves when the connection has ended for any reason. Its locks are released then. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** @throws AppError `unavailable` */
export async function openDatabaseSession({
  url,
  applicationName,
  idleTimeoutMs,
  keepalive = true,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
}: DatabaseSessionOptions): Promise<DatabaseSession> {
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types: typeParsers,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
  });
  const ended = new Promise<void>((resolve) => client.once("end", () => resolve()));
  // Without a listener the loss of the connection would end the process; `ended` reports it.
  client.on("error", () => {});
  try {
    await client.connect();
    const settings = `set timezone = 'UTC'; set datestyle = 'ISO'; set statement_timeout = ${statementTimeoutMs};
       set idle_session_timeout = ${idleTimeoutMs}; set client_connection_check_interval = ${CONNECTION_CHECK_MS}`;
    await client.query(Object.assign({ text: settings }, { query_timeout: CONNECT_TIMEOUT_MS }));
  } catch (error) {
    await end(client).catch(() => {});
    throw fromPostgresError(error);
  }
  const bounds = { query_timeout: statementTimeoutMs + RESPONSE_GRACE_MS };
  // pg 9 no longer queues statements.
  const statements = new Mutex();
  const query: DatabaseSession["query"] = (statement, values) => statements.run(() => run(client, statement, values, bounds));
  if (keepalive) {
    // On a lost connection this fails and the session ends. A session with a statement in progress is not idle.
    const keepAlive = (): void => void (statements.isIdle && query("select 1").catch(() => {}));
    const timer = setInterval(keepAlive, idleTimeoutMs / KEEPALIVES_PER_IDLE_TIMEOUT);
    void ended.then(() => clearInterval(timer));
  }
  return {
    query,
    async listen(channel, onNotify) {
      client.on("notification", (notification) => notification.channel === channel && onNotify());
      await query(`listen ${pg.escapeIdentifier(channel)}`);
    },
    ended,
    stop: () => end(client),
  };
}

/** Ends the connection, and destroys its socket if the server does not respond within 2 s. */
async function end(client: pg.Client): Promise<void> {
  const timeout = setTimeout(() => client.connection.stream.destroy(), RESPONSE_GRACE_MS);
  try {
    await client.end();
  } finally {
    clearTimeout(timeout);
  }
}
