import { existsSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { mergeEvent } from "@brand-records/client";
import { Stop } from "./stop.js";

/** @import { BrandEvent, FinishedWalk, SyncPage, SyncState, SyncStore, UnknownEvent } from "@brand-records/client" */

/** @typedef {{ resource: any, cursor: string | undefined }[]} ToRead */

const now = () => new Date().toISOString();

/**
 * Opens a copy, and creates its tables.
 *
 * @param {string} path
 * @param {boolean} create whether there may be none yet
 */
export function openCopy(path, create = false) {
  if (!create && !existsSync(path)) throw new Stop(2, `no walk has been made into ${path}`);
  const db = new DatabaseSync(path);
  db.exec("pragma busy_timeout = 30000");
  db.exec(readFileSync(new URL("layout.sql", import.meta.url), "utf8"));
  return db;
}

/**
 * Refuses a second walk. Keep the result: the lock ends with it, so also with a killed process.
 *
 * @param {string} path of the copy
 */
export function lock(path) {
  const held = new DatabaseSync(`${path}.lock`);
  try {
    held.exec("begin exclusive");
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    throw new Stop(message.includes("locked") ? 75 : 1, `${path}.lock: ${message}: is another walk running?`);
  }
  return held;
}

/**
 * @template Result
 * @param {DatabaseSync} db
 * @param {() => Result} work
 */
function transaction(db, work) {
  db.exec("begin immediate");
  try {
    const result = work();
    db.exec("commit");
    return result;
  } catch (error) {
    db.exec("rollback");
    throw error;
  }
}

/** A copy in SQLite, in the tables of layout.sql, which sync.py shares. @implements {SyncStore} */
export class SqliteStore {
  #db;

  /** @param {DatabaseSync} db */
  constructor(db) {
    this.#db = db;
  }

  /** @returns {SyncState} */
  load() {
    const brand = /** @type {{ id: string } | undefined} */ (this.#db.prepare("select id from brand").get());
    const walk = this.#unfinishedWalk();
    if (walk === undefined) return { brandId: brand?.id, progress: undefined };
    const rows = /** @type {{ resource: any, cursor: string | null }[]} */ (
      this.#db.prepare("select resource, cursor from to_read order by rowid").all()
    );
    const toRead = rows.map(({ resource, cursor }) => ({ resource, cursor: cursor ?? undefined }));
    return { brandId: brand?.id, progress: { startedAt: walk.started_at, toRead } };
  }

  /** @param {SyncPage} page */
  writePage({ brandId, resource, records, requestedAt, listedAt, progress }) {
    transaction(this.#db, () => {
      this.#db.prepare("insert or ignore into brand values (1, ?)").run(brandId);
      const walkId =
        this.#unfinishedWalk()?.id ?? this.#db.prepare("insert into walks (started_at) values (?)").run(progress.startedAt).lastInsertRowid;
      // Takes the record as listed, also if its `updated_at` is earlier: an import may have set it back.
      const replace = this.#db.prepare("insert or replace into records values (?, ?, ?, ?, ?, ?, ?)");
      for (const record of records) {
        replace.run(resource, record.id, record.created_at, record.updated_at, JSON.stringify(record), walkId, listedAt);
      }
      mergeWaiting(this.#db, resource, requestedAt);
      this.#db.exec("delete from to_read");
      const insert = this.#db.prepare("insert into to_read values (?, ?)");
      for (const { resource, cursor } of progress.toRead) insert.run(resource, cursor ?? null);
    });
  }

  /** @param {FinishedWalk} walk */
  finishWalk({ finishedAt }) {
    transaction(this.#db, () => {
      this.#db.prepare("update walks set finished_at = ? where finished_at is null").run(finishedAt);
      this.#db.exec("delete from waiting_events");
    });
  }

  #unfinishedWalk() {
    const query = this.#db.prepare("select id, started_at from walks where finished_at is null");
    return /** @type {{ id: number | bigint, started_at: string } | undefined} */ (query.get());
  }
}

/**
 * Merges a verified event into its record, if the event is newer. Returns what was done.
 *
 * @param {DatabaseSync} db
 * @param {BrandEvent | UnknownEvent} event
 */
export function applyEvent(db, event) {
  const { resource, id, updated_at } = /** @type {Record<string, any>} */ (event.data);
  if (event.test) return "nothing is changed: this is a test event";
  if (typeof updated_at !== "string") return `${id} is not changed: the event has no updated_at`;
  return transaction(db, () => {
    const waiting = db.prepare("insert or replace into waiting_events values (?, ?, ?, ?, ?)");
    waiting.run(resource, id, updated_at, JSON.stringify(event), now());
    return merge(db, event);
  });
}

/**
 * Merges the events that came after a page was requested, and that it may lack. With a margin, as the clock may have been set back since:
 * what is not newer changes nothing.
 *
 * @param {DatabaseSync} db
 * @param {string} resource
 * @param {string} requestedAt
 */
function mergeWaiting(db, resource, requestedAt) {
  const waiting = db.prepare(
    "select event from waiting_events where resource = ? and julianday(received_at) >= julianday(?, '-5 minutes') order by updated_at",
  );
  for (const { event } of waiting.all(resource, requestedAt)) merge(db, JSON.parse(String(event)));
}

/**
 * @param {DatabaseSync} db
 * @param {BrandEvent | UnknownEvent} event
 */
function merge(db, event) {
  const { resource, id } = /** @type {Record<string, any>} */ (event.data);
  const row = db.prepare("select record, listed_at from records where resource = ? and id = ?").get(resource, id);
  if (row === undefined) return `${id} is not in the copy: the next walk brings the whole record`;
  const merged = mergeEvent({ record: JSON.parse(String(row["record"])), listedAt: String(row["listed_at"]) }, event);
  if (!merged.isChanged) {
    const later = merged.reason === "before_listing" ? "a later listing" : "this state or a later one";
    return `${id} is not changed: the copy has ${later}`;
  }
  const update = db.prepare("update records set updated_at = ?, record = ? where resource = ? and id = ?");
  update.run(merged.record.updated_at, JSON.stringify(merged.record), resource, id);
  return `${id} is changed`;
}
