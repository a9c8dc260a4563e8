import type pg from "pg";
import { IS_OF_PRODUCT } from "../databases.ts";

/**
 * Statements that take due lanes or deliveries: alone among those of the tables they skip what is locked. Inside a function they
 * count too (`pg_stat_statements.track = all`).
 */
const IS_CLAIM = `query ilike '%skip locked%' and query ~* 'webhook\\.(deliveries|lanes)'`;

export interface DatabaseCounters {
  /** Statements of the product since the reset, including transaction control. */
  readonly statements: number;
  /** Position in the write-ahead log, in bytes. The whole server's. */
  readonly walBytes: number;
  /** Full pages among what the product's statements logged since the reset: each page's first change after a checkpoint. */
  readonly walFullPages: number;
  readonly longestClaimMs: number;
}

export async function resetCounters(client: pg.Client): Promise<void> {
  await client.query("select pg_stat_statements_reset()");
}

export async function readCounters(client: pg.Client): Promise<DatabaseCounters> {
  const { rows } = await client.query<Record<keyof DatabaseCounters, string>>(
    `select coalesce(sum(calls) filter (where toplevel), 0) as statements,
            pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as "walBytes",
            coalesce(sum(wal_fpi) filter (where toplevel), 0) as "walFullPages",
            coalesce(max(max_exec_time) filter (where ${IS_CLAIM}), 0) as "longestClaimMs"
       from pg_stat_statements where ${IS_OF_PRODUCT}`,
  );
  const [row] = rows;
  return {
    statements: Number(row?.statements),
    walBytes: Number(row?.walBytes),
    walFullPages: Number(row?.walFullPages),
    longestClaimMs: Number(row?.longestClaimMs),
  };
}
