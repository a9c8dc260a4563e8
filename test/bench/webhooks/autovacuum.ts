import type pg from "pg";
import { waitForCount } from "./wait-for.ts";

const WAIT_MS = 60_000;

/**
 * Runs `measure` without autovacuum on the whole server. It comes once a minute for each database: in some bursts it logged as much as the
 * product, and of two builds it met one.
 */
export async function withoutAutovacuum<T>(client: pg.Client, measure: () => Promise<T>): Promise<T> {
  await configure(client, "alter system set autovacuum = off");
  try {
    await untilNoAutovacuum(client);
    return await measure();
  } finally {
    await configure(client, "alter system reset autovacuum");
  }
}

/** Resolves once no autovacuum runs, or when one has run for a minute. */
export async function untilNoAutovacuum(client: pg.Client): Promise<void> {
  const idle = async (): Promise<number> => {
    const { rows } = await client.query<{ n: string }>(
      "select count(*) as n from pg_stat_activity where backend_type = 'autovacuum worker'",
    );
    return -Number(rows[0]?.n);
  };
  await waitForCount(idle, 0, WAIT_MS);
}

async function configure(client: pg.Client, statement: string): Promise<void> {
  await client.query(statement);
  await client.query("select pg_reload_conf()");
}
