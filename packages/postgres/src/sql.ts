import type pg from "pg";
import { fromPostgresError } from "./errors.ts";

/** A statement that is prepared once per connection under its name, because parsing most statements costs more than running them. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Runs statements: a pool, a transaction or a session. */
export interface Sql {
  query<Row>(statement: Statement | string, values?: readonly unknown[]): Promise<Row[]>;
}

/** Grace beyond a statement's timeout before a silent server counts as dead. */
export const RESPONSE_GRACE_MS = 2_000;

export interface Bounds {
  /** Milliseconds until the server's response, its own statement timeout included. */
  readonly query_timeout: number;
}

/** @throws AppError `unavailable` or `timeout` if the database is the reason; else the error of pg */
export async function run<Row>(
  on: pg.Pool | pg.ClientBase,
  statement: Statement | string,
  values: readonly unknown[] | undefined,
  bounds: Bounds,
): Promise<Row[]> {
  const config = typeof statement === "string" ? { text: statement } : { name: statement.name, text: statement.text };
  try {
    const result = await on.query({ ...config, ...bounds, values: (values ?? []) as unknown[] });
    return result.rows as Row[];
  } catch (error) {
    throw fromPostgresError(error);
  }
}
