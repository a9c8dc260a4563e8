import pg from "pg";
import { fromPostgresError } from "./errors.ts";
import { run, SILENCE_MS, type Bounds, type Sql } from "./sql.ts";
import { typeParsers } from "./types.ts";

const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 10_000;
/** A process that froze or vanished within a transaction holds its locks no longer than this. */
const IDLE_IN_TRANSACTION_MS = 15_000;

export interface PoolOptions {
  readonly url: string;
  /** Connections at most. */
  readonly max?: number;
  readonly applicationName: string;
  /** How long one statement may run; 10 s unless told otherwise. */
  readonly statementTimeoutMs?: number;
  /** A connection broke while nobody used it. */
  onIdleError?(error: Error): void;
}

export interface Database extends Sql {
  /** Commits when `work` resolves, rolls back when it rejects. Read committed. */
  transaction<T>(work: (sql: Transaction) => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

export interface Transaction extends Sql {
  /** The connection itself, for COPY. */
  readonly client: pg.ClientBase;
}

/** A pool that connects by itself, now and after every loss. Times come as RFC 3339 text, bigint as number. */
export function openPool({
  url,
  max = 10,
  applicationName,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
  onIdleError,
}: PoolOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types: typeParsers,
    // By statement, not by startup option: poolers refuse unknown options.
    onConnect: (client) =>
      client.query(
        `set timezone = 'UTC'; set datestyle = 'ISO'; set statement_timeout = ${statementTimeoutMs};
         set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`,
      ) as unknown as void,
  });
  pool.on("error", (error) => onIdleError?.(error));
  // A host that vanished says nothing: the system would wait a quarter of an hour for it, with the connection.
  const bounds = { query_timeout: statementTimeoutMs + SILENCE_MS };
  return {
    query: (statement, values) => run(pool, statement, values, bounds),
    transaction: (work) => transaction(pool, work, bounds),
    stop: () => pool.end(),
  };
}

async function transaction<T>(pool: pg.Pool, work: (sql: Transaction) => Promise<T>, bounds: Bounds): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw fromPostgresError(error);
  });
  // Without a listener the loss of this connection would end the process; the running query rejects as well.
  let lost: Error | undefined;
  const onLoss = (error: Error): void => void (lost = error);
  client.on("error", onLoss);
  try {
    await run(client, "begin", [], bounds);
    const result = await work({ client, query: (statement, values) => run(client, statement, values, bounds) });
    await run(client, "commit", [], bounds);
    return result;
  } catch (error) {
    await run(client, "rollback", [], { query_timeout: SILENCE_MS }).catch((rollbackError: Error) => void (lost ??= rollbackError));
    throw error;
  } finally {
    client.off("error", onLoss);
    // A connection that could not even roll back is not given to anybody else.
    client.release(lost);
  }
}
