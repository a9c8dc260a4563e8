import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { IS_OF_PRODUCT } from "../harness/databases.ts";
import { brandOf } from "./outbox.ts";

const POLL_MS = 50;

/**
 * Resolves once `read` returns `wanted` or more.
 *
 * @returns false if the number has not risen for `stuckMs`
 */
export async function waitForCount(read: () => Promise<number>, wanted: number, stuckMs: number): Promise<boolean> {
  let highest = Number.NEGATIVE_INFINITY;
  for (let risenAt = performance.now(); ; await pause(POLL_MS)) {
    const count = await read();
    if (count >= wanted) return true;
    if (count > highest) [highest, risenAt] = [count, performance.now()];
    if (performance.now() - risenAt > stuckMs) return false;
  }
}

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

interface Snapshot {
  /** Ends its session. A repeat does nothing. */
  end(): Promise<void>;
}

/** Takes a snapshot and keeps it open, as a dump does: no row that it sees can be removed from tables and indexes. */
export async function openSnapshot(databaseUrl: string): Promise<Snapshot> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "bench snapshot" });
  client.on("error", () => {});
  await client.connect();
  await client.query("begin isolation level repeatable read read only");
  // The first query takes the snapshot.
  await client.query("select count(*) from webhook.lanes");
  let ending: Promise<void> | undefined;
  return { end: () => (ending ??= client.end()) };
}

/** Gives a receiver `count` overdue deliveries, as after a long outage. */
export async function addBacklog(client: pg.Client, receiver: number, receiverId: string, count: number): Promise<void> {
  await client.query("select webhook.ensure_day(current_date)");
  await client.query(
    `with made as (
       insert into webhook.events (id, created_at, brand_id, type, data)
       select records.new_id('evt', now()), now(), $2, 'submission.approved', '{"resource":"submissions","id":"sub_0"}' from generate_series(1, $3)
       returning id, created_at)
     insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type, due_at)
     select records.new_id('dlv', now()), $1, id, created_at, 'submission.approved', now() - interval '1 hour' from made`,
    [receiverId, brandOf(receiver), count],
  );
  await client.query("vacuum analyze webhook.deliveries");
  // No pending delivery may come before its lane's next_due.
  await client.query("update webhook.lanes set next_due = '-infinity' where receiver_id = $1", [receiverId]);
  await client.query("notify webhook_deliveries");
}
