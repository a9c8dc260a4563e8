import { randomUUID } from "node:crypto";

/** Longer than a message to the chat may take (12 s). */
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
  CREATE TABLE IF NOT EXISTS posts (
    chat TEXT NOT NULL,
    event_id TEXT NOT NULL,
    lease TEXT,                  -- of the request that is posting the event; null once the chat has it
    expires_at INTEGER NOT NULL, -- milliseconds since the epoch; an expired row counts as absent
    PRIMARY KEY (chat, event_id)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS posts_by_expiry ON posts (expires_at)`;

/** @typedef {{ chat: string, eventId: string }} Key relays for different chats may share the file: each chat gets every event */

/** @typedef {{ state: "claimed", lease: string } | { state: "posted" } | { state: "in progress", seconds: number }} Claim */

/**
 * The events that each chat has, in a file that several processes may share. A claim is one atomic statement. Methods throw if the
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
    const main = this.#database.prepare("PRAGMA database_list").get();
    if (main?.["file"] === "") throw new Error("it must be a file, not memory, which forgets at the end what was posted");
    this.#database.exec(SCHEMA);
    this.#keepMs = keepDays * DAY_MS;
  }

  /**
   * Claims an event for one request, also among processes. If the process dies before it records or releases the event, the
   * claim ends with its lease, and the event may be posted again.
   *
   * @param {Key} key
   * @returns {Claim}
   */
  claim({ chat, eventId }) {
    const now = Date.now();
    this.#database
      .prepare("DELETE FROM posts WHERE rowid IN (SELECT rowid FROM posts WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)")
      .run(now, FORGOTTEN_AT_ONCE);
    const lease = randomUUID();
    const { changes } = this.#database
      .prepare(
        `INSERT INTO posts (chat, event_id, lease, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
          SET lease = excluded.lease, expires_at = excluded.expires_at WHERE posts.expires_at <= ?`,
      )
      .run(chat, eventId, lease, now + LEASE_MS, now);
    if (changes === 1) return { state: "claimed", lease };
    const row = this.#database.prepare("SELECT lease, expires_at FROM posts WHERE chat = ? AND event_id = ?").get(chat, eventId);
    if (row?.["lease"] === null) return { state: "posted" };
    return { state: "in progress", seconds: Math.ceil(Math.max(1_000, Number(row?.["expires_at"] ?? now) - now) / 1_000) };
  }

  /**
   * Records that the chat has the event, whatever became of the lease.
   *
   * @param {Key} key
   */
  record({ chat, eventId }) {
    this.#database
      .prepare("INSERT INTO posts VALUES (?, ?, NULL, ?) ON CONFLICT DO UPDATE SET lease = NULL, expires_at = excluded.expires_at")
      .run(chat, eventId, Date.now() + this.#keepMs);
  }

  /**
   * Ends a claim: the next request for the event posts it.
   *
   * @param {Key} key
   * @param {string} lease
   */
  release({ chat, eventId }, lease) {
    this.#database.prepare("DELETE FROM posts WHERE chat = ? AND event_id = ? AND lease = ?").run(chat, eventId, lease);
  }

  /** Writes a row that is expired: reading, or a transaction without a write, would not notice a full disk. */
  checkWritable() {
    const now = Date.now();
    if (now - this.#checkedAt < CHECK_MS) return;
    this.#database.prepare("INSERT INTO posts VALUES ('', 'check', NULL, 0) ON CONFLICT DO UPDATE SET expires_at = 0").run();
    this.#checkedAt = now;
  }
}
