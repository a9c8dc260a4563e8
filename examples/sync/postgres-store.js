import { readFileSync } from "node:fs";
import { mergeEvent } from "@brand-records/client";

/**
 * @import { Pool, PoolClient } from "pg"
 * @import { BrandEvent, FinishedWalk, SyncPage, SyncState, SyncStore, UnknownEvent } from "@brand-records/client"
 */

/**
 * A copy in Postgres, in the tables of postgres.sql.
 *
 *     await new BrandRecords({ url, key }).sync(await PostgresStore.open(pool));
 *
 * @implements {SyncStore}
 */
export class PostgresStore {
  #pool;

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
    const { rows } = await this.#pool.query("select brand_id, progress from brand_copy.state");
    return { brandId: rows[0]?.brand_id, progress: rows[0]?.progress ?? undefined };
  }

  /** @param {SyncPage} page */
  writePage({ brandId, resource, records, requestedAt, listedAt, progress }) {
    return this.#transaction(async (sql) => {
      await sql.query(
        `insert into brand_copy.state (brand_id, progress) values ($1, $2)
         on conflict (only_row) do update set progress = excluded.progress`,
        [brandId, JSON.stringify(progress)],
      );
      // Takes the record as listed, also if its updated_at is earlier: an import may have set it back.
      await sql.query(
        `insert into brand_copy.records (resource, id, record, walk, listed_at)
         select $1, record ->> 'id', record, $3, $4 from jsonb_array_elements($2::jsonb) record
         on conflict (resource, id) do update set record = excluded.record, walk = excluded.walk, listed_at = excluded.listed_at`,
        [resource, JSON.stringify(records), progress.startedAt, listedAt],
      );
      const { rows } = await sql.query(
        `select event from brand_copy.waiting_events
         where event #>> '{data,resource}' = $1 and received_at >= $2 order by event #>> '{data,updated_at}'`,
        [resource, requestedAt],
      );
      for (const { event } of rows) await merge(sql, event);
    });
  }

  /** @param {FinishedWalk} walk */
  finishWalk({ startedAt }) {
    return this.#transaction(async (sql) => {
      await sql.query("update brand_copy.state set progress = null, finished_walk = $1", [startedAt]);
      await sql.query("delete from brand_copy.waiting_events");
    });
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
    try {
      await sql.query("begin");
      const result = await work(sql);
      await sql.query("commit");
      return result;
    } catch (error) {
      await sql.query("rollback");
      throw error;
    } finally {
      sql.release();
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
