export { dataProblemOf, fromPostgresError, isUniqueViolation } from "./errors.ts";
export { migrate, MigrationError, SchemaMismatchError, type MigrateOptions } from "./migrate.ts";
export { startNotifier, type NotifierOptions } from "./notifier.ts";
export { openSession, type Session, type SessionOptions } from "./session.ts";
export { openPool, type Database, type PoolOptions, type Transaction } from "./pool.ts";
export type { Sql, Statement } from "./sql.ts";
export { rfc3339FromPostgres } from "./types.ts";
