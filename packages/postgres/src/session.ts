import pg from "pg";
import { fromPostgresError } from "./errors.ts";
import { run, SILENCE_MS } from "./run.ts";
import type { Sql } from "./sql.ts";
import { typeParsers } from "./types.ts";

const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 10_000;
/** A server that is busy with a statement would not look whether we are still there. */
const CONNECTION_CHECK_MS = 1_000;

export interface SessionOptions {
  readonly url: string;
  readonly applicationName: string;
  /**
   * The server ends the session after so long without a statement: what it holds is free again soon after this process
   * froze or its host vanished. Its owner has to ask something more often.
   */
  readonly idleTimeoutMs: number;
  /** Something came on a channel the session LISTENs to. */
  onNotification?(channel: string): void;
}

/** One connection of one's own, for what belongs to a session: advisory locks, LISTEN. It does not connect again. */
export interface Session extends Sql {
  /** Resolves when the connection has ended, for whatever reason. What the session held is gone then. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** @throws AppError `unavailable` */
export async function openSession({ url, applicationName, idleTimeoutMs, onNotification }: SessionOptions): Promise<Session> {
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types: typeParsers,
    keepAlive: true,
  });
  const ended = new Promise<void>((resolve) => client.once("end", () => resolve()));
  // Without a listener the loss of the connection would end the process; `ended` tells.
  client.on("error", () => {});
  client.on("notification", ({ channel }) => onNotification?.(channel));
  try {
    await client.connect();
    const settings = `set timezone = 'UTC'; set datestyle = 'ISO'; set statement_timeout = ${STATEMENT_TIMEOUT_MS};
       set idle_session_timeout = ${idleTimeoutMs}; set client_connection_check_interval = ${CONNECTION_CHECK_MS}`;
    await client.query(Object.assign({ text: settings }, { query_timeout: CONNECT_TIMEOUT_MS }));
  } catch (error) {
    await end(client).catch(() => {});
    throw fromPostgresError(error);
  }
  const bounds = { query_timeout: STATEMENT_TIMEOUT_MS + SILENCE_MS };
  return { query: (statement, values) => run(client, statement, values, bounds), ended, stop: () => end(client) };
}

/** A server that says nothing does not close the connection either: it is cut off then. */
async function end(client: pg.Client): Promise<void> {
  const silence = setTimeout(() => client.connection.stream.destroy(), SILENCE_MS);
  try {
    await client.end();
  } finally {
    clearTimeout(silence);
  }
}
