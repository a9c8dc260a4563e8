import type pg from "pg";
import { fromPostgresError } from "./errors.ts";
import type { Statement } from "./sql.ts";

/** What the server may take beyond a statement's time to say that it is over, before it is taken for dead. */
export const SILENCE_MS = 2_000;

export interface Bounds {
  /** Milliseconds for the server to answer a statement, its own time-out included. */
  readonly query_timeout: number;
}

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
