export { startFailureOf, type StartFailure } from "./start-failure.ts";
export {
  dataProblemOf,
  fromPostgresError,
  isUniqueViolation,
  POSTGRES_FAILURES,
  postgresFailureOf,
  type PostgresFailure,
} from "./errors.ts";
export { buildLateIndexes, type LateIndexesOptions } from "./late-indexes.ts";
export { countPendingMigrations, isMigrated, migrate } from "./migrate.ts";
export { databaseTime, isPrepared, type Sql, type Statement } from "./sql.ts";
export { countOf, firstOf, isFound, onlyOf, statementsOf } from "./statements.ts";
export { startNotifier } from "./notifier.ts";
export { openDatabaseSession, type DatabaseSession } from "./database-session.ts";
export { openPool, type Database, type PoolOptions, type PoolState, type Transaction, type TransactionOptions } from "./pool.ts";
export { rfc3339FromPostgres } from "./types.ts";
export { unnestRows, type BatchRow, type UnnestedRows } from "./unnest-rows.ts";
