import { randomUUID } from "node:crypto";

/** Longer than a message to the chat may take (8 s). */
const LEASE_MS = 15_000;
const DAY_MS = 86_400_000;
/** Anyone may ask for the readiness: not every request writes. */
const CHECK_MS = 1_000;
/** Bounds the time for it, also after a long stop. */
const FORGOTTEN_AT_ONCE = 100;

const SCHEMA = `
  -- Waiting blocks the process: other processes hold the lock for milliseconds.
  PRAGMA busy_timeout = 500;
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS events (
    id TEXT PRIMARY KEY,
    lease TEXT,                  -- of the request that is posting the event; null once the chat has it
    expires_at INTEGER NOT NULL  -- milliseconds since the epoch; an expired row counts as absent
  ) STRICT;
  CREATE INDEX IF NOT EXISTS events_by_expiry ON events (expires_at)`;

/** @typedef {{ state: "claimed", lease: string } | { state: "posted" } | { state: "in progress", seconds: number }} Claim */

/**
 * The events that the chat has, in a file that several processes may share. A claim is one atomic statement. Methods throw if the
 * file cannot be read or written.
 */
export class PostedEvents {
  #database;
  #keepMs;
  #checkedAt = 0;

  /**
   * @param {string} path
   * @param {number} keepDays longer than the service can send an event again
   */
  constructor(path, keepDays) {
    const sqlite = process.getBuiltinModule?.("node:sqlite");
    if (sqlite === undefined) throw new Error(`node:sqlite needs Node.js 22.13 or newer, this is ${process.version}`);
    this.#database = new sqlite.DatabaseSync(path);
    this.#database.exec(SCHEMA);
    this.#keepMs = keepDays * DAY_MS;
  }

  /**
   * Claims an event for one request, also among processes. If the process dies before it records or releases the event, the
   * claim ends with its lease, and the event may be posted again.
   *
   * @param {string} id
   * @returns {Claim}
   */
  claim(id) {
    const now = Date.now();
    this.#database
      .prepare("DELETE FROM events WHERE id IN (SELECT id FROM events WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)")
      .run(now, FORGOTTEN_AT_ONCE);
    const lease = randomUUID();
    const { changes } = this.#database
      .prepare(
        `INSERT INTO events (id, lease, expires_at) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE
          SET lease = excluded.lease, expires_at = excluded.expires_at WHERE events.expires_at <= ?`,
      )
      .run(id, lease, now + LEASE_MS, now);
    if (changes === 1) return { state: "claimed", lease };
    const row = this.#database.prepare("SELECT lease, expires_at FROM events WHERE id = ?").get(id);
    if (row?.["lease"] === null) return { state: "posted" };
    return { state: "in progress", seconds: Math.ceil(Math.max(1_000, Number(row?.["expires_at"] ?? now) - now) / 1_000) };
  }

  /**
   * Records that the chat has the event, whatever became of the lease.
   *
   * @param {string} id
   */
  record(id) {
    this.#database
      .prepare("INSERT INTO events VALUES (?, NULL, ?) ON CONFLICT (id) DO UPDATE SET lease = NULL, expires_at = excluded.expires_at")
      .run(id, Date.now() + this.#keepMs);
  }

  /**
   * Ends a claim: the next request for the event posts it.
   *
   * @param {string} id
   * @param {string} lease
   */
  release(id, lease) {
    this.#database.prepare("DELETE FROM events WHERE id = ? AND lease = ?").run(id, lease);
  }

  /** Writes a row that is expired: reading, or a transaction without a write, would not notice a full disk. */
  checkWritable() {
    const now = Date.now();
    if (now - this.#checkedAt < CHECK_MS) return;
    this.#database.prepare("INSERT INTO events VALUES ('check', NULL, 0) ON CONFLICT (id) DO UPDATE SET expires_at = 0").run();
    this.#checkedAt = now;
  }
}
