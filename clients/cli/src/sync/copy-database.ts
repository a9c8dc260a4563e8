import { CommandFailure, errorReason } from "@brand-records/command-line";

/** What differs between the databases that hold a copy. Everything else of a copy's SQL runs in all of them. */
export interface Dialect {
  /** The type of JSON. */
  readonly json: "jsonb" | "text";
  /** Returns a record's field, as views have it. */
  field(name: string, kind: "number" | "time" | "text"): string;
  /** Takes the second parameter, a list in JSON, apart: a row has an element in the column `value`. */
  readonly elements: string;
  /** Statements before those that make the tables. */
  readonly setup: readonly string[];
}

export type SqlValue = string | number | null;

/** Runs a statement whose parameters are `$1`, `$2`, … and returns its rows. */
export type Query = (statement: string, values?: readonly SqlValue[]) => Promise<Readonly<Record<string, unknown>>[]>;

export interface CopyDatabase {
  /** The database, as messages name it: without a password. */
  readonly name: string;
  readonly dialect: Dialect;
  /** Returns whether the copy's tables exist. */
  hasTables(query: Query): Promise<boolean>;
  /** Makes this process the only one that walks, until it ends. @throws CommandFailure `sync_under_way` */
  lock(): Promise<void>;
  /** Runs statements in a transaction, one at a time of all processes. @throws CommandFailure `copy_failed` */
  transaction<Result>(work: (query: Query) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export const underWay = (name: string): CommandFailure =>
  new CommandFailure("sync_under_way", `Another brand-records sync writes into ${name}.`, {
    hint: "Run the command again when it has ended.",
  });

export function copyFailed(name: string, error: unknown): unknown {
  if (error instanceof CommandFailure) return error;
  const reason = errorReason(error);
  const hint = reason.includes("client password") ? "Set PGPASSWORD, or BRAND_RECORDS_DB to the whole URL." : undefined;
  return new CommandFailure("copy_failed", `${name}: ${reason}`, { cause: error, ...(hint !== undefined && { hint }) });
}
