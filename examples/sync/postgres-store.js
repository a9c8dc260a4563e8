import { readFileSync } from "node:fs";
import { mergeEvent } from "@brand-records/client";

/**
 * @import { Pool, PoolClient } from "pg"
 * @import { BrandEvent, FinishedWalk, SyncPage, SyncState, SyncStore, UnknownEvent } from "@brand-records/client"
 */

/** Whether the state is still what this walk knows: its parameters are the second and the third. */
const IS_KNOWN = "s.progress is not distinct from $2::jsonb and s.finished_walk is not distinct from $3::timestamptz";

/** @param {number | null} rowCount */
function requireOnly(rowCount) {
  if (rowCount === 0) throw new Error("another walk writes this copy");
}

/**
 * A copy in Postgres, in the tables of postgres.sql, for one walk at a time. Of two walks with a store each that write it, the one that comes second to a page fails, and changes
 * nothing: it may have read its page before the other one read a newer.
 *
 *     pool.on("error", (error) => console.error(error.message)); // else losing an idle connection ends the process
 *     await new BrandRecords({ url, key }).sync(await PostgresStore.open(pool));
 *
 * @implements {SyncStore}
 */
export class PostgresStore {
  #pool;
  /**
   * What the state was when this walk last read or wrote it.
   *
   * @type {{ progress: string | null, finishedWalk: string | null }}
   */
  #known = { progress: null, finishedWalk: null };

  /** @param {Pool} pool */
  constructor(pool) {
    this.#pool = pool;
  }

  /**
   * Creates the tables, if they are missing.
   *
   * @param {Pool} pool
   */
  static async open(pool) {
    await pool.query(readFileSync(new URL("postgres.sql", import.meta.url), "utf8"));
    return new PostgresStore(pool);
  }

  /** @returns {Promise<SyncState>} */
  async load() {
    const { rows } = await this.#pool.query("select brand_id, progress, finished_walk::text from brand_copy.state");
    this.#known = { progress: rows[0]?.progress ? JSON.stringify(rows[0].progress) : null, finishedWalk: rows[0]?.finished_walk ?? null };
    return { brandId: rows[0]?.brand_id, progress: rows[0]?.progress ?? undefined };
  }

  /** @param {SyncPage} page */
  async writePage({ brandId, resource, records, requestedAt, listedAt, progress }) {
    const next = JSON.stringify(progress);
    await this.#transaction(async (sql) => {
      const { rowCount } = await sql.query(
        `insert into brand_copy.state as s (brand_id, progress) values ($4, $1)
         on conflict (only_row) do update set progress = excluded.progress where ${IS_KNOWN}`,
        [next, this.#known.progress, this.#known.finishedWalk, brandId],
      );
      requireOnly(rowCount);
      // Takes the record as listed, also if its updated_at is earlier: an import may have set it back.
      await sql.query(
        `insert into brand_copy.records (resource, id, record, walk, listed_at)
         select $1, record ->> 'id', record, $3, $4 from jsonb_array_elements($2::jsonb) record
         on conflict (resource, id) do update set record = excluded.record, walk = excluded.walk, listed_at = excluded.listed_at`,
        [resource, JSON.stringify(records), progress.startedAt, listedAt],
      );
      // The request's time is this machine's, the event's the server's: they may differ by minutes. What is not newer changes nothing.
      const { rows } = await sql.query(
        `select event from brand_copy.waiting_events
         where event #>> '{data,resource}' = $1 and received_at >= $2::timestamptz - interval '5 minutes' order by event #>> '{data,updated_at}'`,
        [resource, requestedAt],
      );
      for (const { event } of rows) await merge(sql, event);
    });
    this.#known.progress = next;
  }

  /** @param {FinishedWalk} walk */
  async finishWalk({ startedAt }) {
    await this.#transaction(async (sql) => {
      const { rowCount } = await sql.query(`update brand_copy.state s set progress = null, finished_walk = $1 where ${IS_KNOWN}`, [
        startedAt,
        this.#known.progress,
        this.#known.finishedWalk,
      ]);
      requireOnly(rowCount);
      await sql.query("delete from brand_copy.waiting_events");
    });
    this.#known = { progress: null, finishedWalk: startedAt };
  }

  /**
   * Merges a verified event into its record, if the event is newer. Repeat it as often as it is delivered.
   *
   * @param {BrandEvent | UnknownEvent} event
   * @returns {Promise<boolean>} whether the record is changed
   * @throws {Error} if it is another brand's
   */
  applyEvent(event) {
    return this.#transaction(async (sql) => {
      // Locks the row against a page that is being written.
      const { rows } = await sql.query("select brand_id from brand_copy.state for update");
      if (rows[0]?.brand_id !== event.brand_id) throw new Error(`the copy is not of brand ${event.brand_id}`);
      if (event.test) return false;
      await sql.query("insert into brand_copy.waiting_events (id, event) values ($1, $2) on conflict do nothing", [
        event.id,
        JSON.stringify(event),
      ]);
      return merge(sql, event);
    });
  }

  /**
   * @template Result
   * @param {(sql: PoolClient) => Promise<Result>} work
   */
  async #transaction(work) {
    const sql = await this.#pool.connect();
    /** @type {Error | undefined} */
    let lost;
    const onLost = (/** @type {Error} */ error) => (lost ??= error);
    // The pool listens to the connections that it holds: without this, losing one in use ends the process.
    sql.on("error", onLost);
    try {
      await sql.query("begin");
      const result = await work(sql);
      await sql.query("commit");
      return result;
    } catch (error) {
      // A connection that cannot roll back is closed, and the error of the work says more.
      await sql.query("rollback").catch(onLost);
      throw error;
    } finally {
      sql.off("error", onLost);
      sql.release(lost);
    }
  }
}

/**
 * @param {PoolClient} sql
 * @param {BrandEvent | UnknownEvent} event
 * @returns {Promise<boolean>} whether the record is changed
 */
async function merge(sql, event) {
  const { resource, id } = /** @type {Record<string, any>} */ (event.data);
  const { rows } = await sql.query("select record, listed_at from brand_copy.records where resource = $1 and id = $2 for update", [
    resource,
    id,
  ]);
  if (rows[0] === undefined) return false;
  const merged = mergeEvent({ record: rows[0].record, listedAt: new Date(rows[0].listed_at).toISOString() }, event);
  if (!merged.isChanged) return false;
  await sql.query("update brand_copy.records set record = $3 where resource = $1 and id = $2", [
    resource,
    id,
    JSON.stringify(merged.record),
  ]);
  return true;
}
