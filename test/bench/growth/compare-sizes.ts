import type pg from "pg";
import { type BenchDatabase, IS_OF_PRODUCT, withClient } from "../harness/databases.ts";
import { spreadOf } from "../harness/statistics.ts";
import { PAIRS } from "./settings.ts";

export interface Side {
  readonly database: BenchDatabase;
  call(): Promise<unknown>;
}

export interface Growth {
  readonly small_ms: number;
  readonly large_ms: number;
  /** Ratio of the medians. Depends on the machine and its caches. */
  readonly time_ratio: number;
  /** Blocks of 8 KiB that the call's statements read, cached or not. Do not depend on the machine. */
  readonly small_buffers: number;
  readonly large_buffers: number;
  readonly buffers_ratio: number;
}

const WARM_UP_PAIRS = Math.ceil(PAIRS / 10);

/** Makes the same call on both sides, alternately, and compares time and buffers. */
export async function compareSizes(small: Side, large: Side, pairs = PAIRS): Promise<Growth> {
  return withClient(small.database.benchUrl, (smallClient) =>
    withClient(large.database.benchUrl, async (largeClient) => {
      await callInTurn(small, large, WARM_UP_PAIRS);
      await Promise.all([resetStatements(smallClient), resetStatements(largeClient)]);
      const times = await callInTurn(small, large, pairs);
      const [small_ms, large_ms] = [spreadOf(times.small).median, spreadOf(times.large).median];
      const small_buffers = await buffersPerCall(smallClient, pairs);
      const large_buffers = await buffersPerCall(largeClient, pairs);
      return {
        small_ms,
        large_ms,
        time_ratio: large_ms / small_ms,
        small_buffers,
        large_buffers,
        buffers_ratio: large_buffers / small_buffers,
      };
    }),
  );
}

async function callInTurn(small: Side, large: Side, pairs: number): Promise<{ small: number[]; large: number[] }> {
  const times = { small: [] as number[], large: [] as number[] };
  for (let pair = 0; pair < pairs; pair += 1) {
    for (const name of pair % 2 === 0 ? (["small", "large"] as const) : (["large", "small"] as const)) {
      const startedAt = performance.now();
      await (name === "small" ? small : large).call();
      times[name].push(performance.now() - startedAt);
    }
  }
  return times;
}

async function resetStatements(client: pg.Client): Promise<void> {
  await client.query("select pg_stat_statements_reset(0, (select oid from pg_database where datname = current_database()), 0)");
}

/** Counts the statements that ran with at least every second call: background work runs more rarely. */
async function buffersPerCall(client: pg.Client, calls: number): Promise<number> {
  const { rows } = await client.query<{ n: string }>(
    `select coalesce(sum(shared_blks_hit + shared_blks_read), 0) as n from pg_stat_statements
      where ${IS_OF_PRODUCT} and toplevel and calls >= $1`,
    [Math.ceil(calls / 2)],
  );
  return Number(rows[0]?.n) / calls;
}
