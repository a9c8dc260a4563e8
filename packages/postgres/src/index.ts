export { startFailureOf, type StartFailure } from "./start-failure.ts";
export { dataProblemOf, fromPostgresError, isUniqueViolation, type PostgresFailure } from "./errors.ts";
export { asIndexBuilder, buildIndex, buildLateIndexes, type LateIndex, type LateIndexesOptions } from "./late-indexes.ts";
export { countPendingMigrations, migrate } from "./migrate.ts";
export { startNotifier } from "./notifier.ts";
export { openSession, type Session } from "./session.ts";
export { openPool, type Database, type PoolState, type Transaction } from "./pool.ts";
export type { Sql, Statement } from "./sql.ts";
export { rfc3339FromPostgres } from "./types.ts";
