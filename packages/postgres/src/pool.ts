import type pg from "pg";
import { fromPostgresError, isConnectionLost, postgresFailureOf, type PostgresFailure } from "./errors.ts";
import { MeasuredPool, type OnWait } from "./measured-pool.ts";
import { PoolFiller } from "./pool-filler.ts";
import { type Bounds, KEEPALIVE_MS, type OnError, RESPONSE_GRACE_MS, run, type Sql } from "./sql.ts";
import { typeParsers } from "./types.ts";

const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 10_000;
/** Bounds how long a process that only reads stays with a server that a failover has demoted: it never meets an error there. */
const CONNECTION_SECONDS_MAX = 600;
/** The server ends a transaction after its process was silent for this long, and releases its locks. */
const IDLE_IN_TRANSACTION_MS = 15_000;

export interface PoolOptions {
  readonly url: string;
  /** Connections at most. */
  readonly max?: number;
  readonly applicationName: string;
  /** Statement timeout in milliseconds. Default: 10,000. */
  readonly statementTimeoutMs?: number;
  /** More settings of each connection, by name: constants, no input. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * Whether statements that do not wait for each other share a round trip. Not over a connection for COPY, which has the connection to itself.
   * Default: true.
   */
  readonly pipeline?: boolean;
  /** Called when an idle connection breaks. */
  onIdleError?(error: Error): void;
  readonly onWait?: OnWait;
  /** Called when a statement or a connection fails and the data is not the reason. */
  onFailure?(failure: PostgresFailure): void;
}

/** Open connections of a pool, and callers that wait for one. */
export interface PoolState {
  readonly idle: number;
  readonly used: number;
  readonly waiting: number;
}

export interface Database extends Sql {
  /** Commits when `work` resolves, rolls back when it rejects. Read committed. */
  transaction<T>(work: (sql: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  state(): PoolState;
  /**
   * Opens every connection of the pool and runs a statement on each, so that the first callers wait for none. From then on lost
   * connections are replaced without being asked for.
   *
   * @returns how many are open: fewer if the database accepts no more, or not within ten seconds
   */
  fill(): Promise<number>;
  stop(): Promise<void>;
}

export interface TransactionOptions {
  /** Limit of each of its statements at the server, in milliseconds; 0: none. Waits here as long, and no less than for others. Default: the pool's. */
  readonly statementTimeoutMs?: number;
  /** What is sent before the first answer only locks: it does not wait for the begin. */
  readonly locksFirst?: true;
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
  settings: more = {},
  pipeline = true,
  onIdleError,
  onWait,
  onFailure,
}: PoolOptions): Database {
  const settings: pg.PoolConfig = {
    connectionString: url,
    max,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    maxLifetimeSeconds: CONNECTION_SECONDS_MAX,
    // A statement without a limit notices in some ten minutes that its server's host has vanished.
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
    types: typeParsers,
    pipeline,
    // A statement sets it: poolers refuse unknown startup options.
    onConnect: (client) =>
      client.query(
        [
          `set timezone = 'UTC'; set datestyle = 'ISO'; set statement_timeout = ${statementTimeoutMs}`,
          `set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`,
          ...Object.entries(more).map(([name, value]) => `set ${name} = ${value}`),
        ].join("; "),
      ) as unknown as void,
  };
  const pool = new MeasuredPool(settings, onWait);
  const filler = new PoolFiller(pool, max);
  pool.on("error", (error) => {
    onIdleError?.(error);
    onLost();
  });
  // A server that restarts ends all connections, also those whose end has not arrived here, or never will: each would fail a request.
  const onLost = (): void => {
    pool.renew();
    filler.refill();
  };
  // The operating system waits 15 minutes for a host that vanished.
  const bounds = { query_timeout: statementTimeoutMs + RESPONSE_GRACE_MS };
  const onError = (error: unknown): void => {
    const failure = postgresFailureOf(error);
    if (failure === undefined) return;
    // The other connections lead to the same server: each would fail a request before it is closed, and reads would never fail.
    if (failure === "read_only") pool.renew();
    if (isConnectionLost(error)) onLost();
    onFailure?.(failure);
  };
  // A statement that needs more than a limit below the usual one says nothing of the database.
  const isShorter = ({ statementTimeoutMs: own = 0 }: TransactionOptions = {}): boolean => own > 0 && own < statementTimeoutMs;
  return {
    query: (statement, values) => run(pool, statement, values, bounds, onError),
    transaction: (work, options) =>
      transaction(pool, work, options, longerOf(bounds, options), isShorter(options) ? ignoring("timeout", onError) : onError),
    state: () => ({ idle: pool.idleCount, used: pool.usedCount, waiting: pool.waitingCount }),
    fill: () => filler.fill(),
    stop: () => filler.stop(),
  };
}

/**
 * Bounds of a transaction with a limit of its own. A lower one is the server's to keep: a commit that was given up here may have
 * been made.
 */
const longerOf = (bounds: Bounds, { statementTimeoutMs }: TransactionOptions = {}): Bounds => {
  if (statementTimeoutMs === undefined) return bounds;
  return { query_timeout: statementTimeoutMs === 0 ? 0 : Math.max(bounds.query_timeout, statementTimeoutMs + RESPONSE_GRACE_MS) };
};

const ignoring =
  (ignored: PostgresFailure, onError: OnError): OnError =>
  (error) => {
    if (postgresFailureOf(error) !== ignored) onError(error);
  };

/** One round trip, with the limit too. */
const beginning = ({ statementTimeoutMs }: TransactionOptions = {}): string =>
  statementTimeoutMs === undefined ? "begin" : `begin; set local statement_timeout = ${statementTimeoutMs}`;

async function transaction<T>(
  pool: pg.Pool,
  work: (sql: Transaction) => Promise<T>,
  options: TransactionOptions = {},
  bounds: Bounds,
  onError: OnError,
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    onError(error);
    throw fromPostgresError(error);
  });
  let lost: Error | undefined;
  try {
    // A begin can fail alone, as by a cancel in that moment: then nothing after the locks runs, which would be no transaction's.
    let failed: unknown;
    const begun = run(client, beginning(options), [], bounds, onError);
    begun.catch((error: unknown) => (failed = error));
    if (options.locksFirst !== true) await begun;
    const query: Sql["query"] = async (statement, values) => {
      if (failed !== undefined) throw failed;
      return run(client, statement, values, bounds, onError);
    };
    const result = await work({ client, query });
    await begun;
    await run(client, "commit", [], bounds, onError);
    return result;
  } catch (error) {
    if (isReadOnly(error)) lost ??= error;
    await run(client, "rollback", [], { query_timeout: RESPONSE_GRACE_MS }).catch((rollbackError: Error) => void (lost ??= rollbackError));
    throw error;
  } finally {
    // A connection that failed to roll back is not reused, nor one to a server that is read-only.
    client.release(lost);
  }
}

const isReadOnly = (error: unknown): error is Error => error instanceof Error && postgresFailureOf(error.cause) === "read_only";
