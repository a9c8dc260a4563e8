import pg from "pg";
import { fromPostgresError } from "./errors.ts";
import { run, RESPONSE_GRACE_MS, type Bounds, type Sql } from "./sql.ts";
import { typeParsers } from "./types.ts";

const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 10_000;
/** The server ends a transaction after its process was silent for this long, and releases its locks. */
const IDLE_IN_TRANSACTION_MS = 15_000;

export interface PoolOptions {
  readonly url: string;
  /** Connections at most. */
  readonly max?: number;
  readonly applicationName: string;
  /** Statement timeout in milliseconds. Default: 10,000. */
  readonly statementTimeoutMs?: number;
  /** Called when an idle connection breaks. */
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

/** Opens a pool that connects on demand and reconnects automatically. It returns times as RFC 3339 text, bigint as number. */
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
    // By statement: poolers refuse unknown startup options.
    onConnect: (client) =>
      client.query(
        `set timezone = 'UTC'; set datestyle = 'ISO'; set statement_timeout = ${statementTimeoutMs};
         set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`,
      ) as unknown as void,
  });
  pool.on("error", (error) => onIdleError?.(error));
  // The operating system waits 15 minutes for a host that vanished.
  const bounds = { query_timeout: statementTimeoutMs + RESPONSE_GRACE_MS };
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
  // Without a listener the loss of the connection would end the process; the running query rejects as well.
  let lost: Error | undefined;
  const onLoss = (error: Error): void => void (lost = error);
  client.on("error", onLoss);
  try {
    await run(client, "begin", [], bounds);
    const result = await work({ client, query: (statement, values) => run(client, statement, values, bounds) });
    await run(client, "commit", [], bounds);
    return result;
  } catch (error) {
    await run(client, "rollback", [], { query_timeout: RESPONSE_GRACE_MS }).catch((rollbackError: Error) => void (lost ??= rollbackError));
    throw error;
  } finally {
    client.off("error", onLoss);
    // A connection that failed to roll back is not reused.
    client.release(lost);
  }
}
