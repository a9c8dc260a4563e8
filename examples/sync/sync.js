/**
 * Keeps a copy of one brand's records in SQLite. README.md explains it; sync.py does the same.
 *
 *     node sync.js                     read every list; an interrupted walk continues where it stopped
 *     node sync.js event < body.json   merge a verified event's body into the record that it reports
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

const RESOURCES = ["campaigns", "submissions", "payouts", "deposits", "conversions", "links"];
const REQUEST_MS_MAX = 60_000;
/** Bounds of one request's repetitions. */
const [FAILURES_MAX, WAITS_MAX] = [9, 60];
/** Time for which a key file may be missing or empty because another program replaces it. */
const KEY_FILE_SECONDS_MAX = 30;
const OLD_WALK_DAYS = 0.5;
const CLOCK_MARGIN = "-5 minutes";

const env = process.env;
const COPY = env["COPY"] || "copy.db";
const BASE_URL = (env["BASE_URL"] ?? "").trim().replace(/\/+$/, "");
const REQUESTS_PER_MINUTE = env["REQUESTS_PER_MINUTE"] ?? "";

/** Ends the program with an exit code: 1 run it again later, 2 a person must act, 75 another walk is running. */
class Stop extends Error {
  /**
   * @param {number} exitCode
   * @param {string} message
   */
  constructor(exitCode, message) {
    super(message);
    this.exitCode = exitCode;
  }
}

const now = () => new Date().toISOString();

// The copy

export function openCopy(create = false) {
  if (!create && !existsSync(COPY)) throw new Stop(2, `no walk has been made into ${COPY}`);
  const db = new DatabaseSync(COPY);
  db.exec("pragma busy_timeout = 30000");
  db.exec(readFileSync(new URL("layout.sql", import.meta.url), "utf8"));
  return db;
}

/** Refuses a second walk. Keep the result: the lock ends with it, so also with a killed process. */
function lock() {
  const held = new DatabaseSync(`${COPY}.lock`);
  try {
    held.exec("begin exclusive");
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    throw new Stop(message.includes("locked") ? 75 : 1, `${COPY}.lock: ${message}: is another walk running?`);
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

/**
 * Refuses the records and events of another brand than the copy's.
 *
 * @param {DatabaseSync} db
 * @param {string} brand
 */
function requireBrand(db, brand) {
  const stored = /** @type {{ id: string } | undefined} */ (db.prepare("select id from brand").get());
  for (const [source, expected] of Object.entries({ BRAND_ID: env["BRAND_ID"], [COPY]: stored?.id })) {
    if (expected && expected !== brand) throw new Stop(2, `this is brand ${brand}, but ${source} is for ${expected}. Nothing was written.`);
  }
}

// Walking the lists

/**
 * Reads every list. A page and the next cursor are one transaction: a killed walk continues after its last page.
 *
 * @param {DatabaseSync} db
 * @returns {Promise<void>}
 */
async function walk(db) {
  const unfinished = /** @type {{ id: number | bigint, started_at: string, is_old: number } | undefined} */ (
    db
      .prepare("select id, started_at, julianday('now') - julianday(started_at) > ? as is_old from walks where finished_at is null")
      .get(OLD_WALK_DAYS)
  );
  let walkId = unfinished?.id;
  const startedAt = unfinished?.started_at ?? now();
  let toRead = RESOURCES.map((resource) => ({ resource, cursor: /** @type {string | null} */ (null) }));
  if (unfinished) {
    console.error(`continuing the walk that began at ${startedAt}`);
    toRead = /** @type {typeof toRead} */ (db.prepare("select resource, cursor from to_read order by rowid").all());
  }
  for (let { resource, cursor } of toRead) {
    let [requests, records] = [0, 0];
    do {
      const { page, brand, askedAt, listedAt } = await getPage(db, resource, cursor);
      cursor = page.next_cursor ?? null;
      walkId = transaction(db, () => {
        requireBrand(db, brand);
        const id = walkId ?? beginWalk(db, brand, startedAt);
        for (const record of page.data) store(db, resource, record, id, listedAt);
        mergeWaiting(db, resource, askedAt);
        if (cursor !== null) db.prepare("update to_read set cursor = ? where resource = ?").run(cursor, resource);
        else db.prepare("delete from to_read where resource = ?").run(resource);
        return id;
      });
      requests += 1;
      records += page.data.length;
    } while (cursor !== null);
    console.log(`${resource}: ${records} records (requests: ${requests})`);
  }
  transaction(db, () => {
    db.prepare("update walks set finished_at = ? where id = ?").run(now(), walkId ?? null);
    db.exec("delete from waiting_events");
  });
  const vanished = db.prepare("select resource || ': ' || count(*) as text from vanished group by resource").all();
  for (const { text } of vanished) console.error(`${String(text)} no longer listed, see the view vanished`);
  // What the interrupted walk read first is old by now.
  if (unfinished?.is_old) await walk(db);
}

/**
 * @param {DatabaseSync} db
 * @param {string} brand
 * @param {string} startedAt
 */
function beginWalk(db, brand, startedAt) {
  db.prepare("insert or ignore into brand values (1, ?)").run(brand);
  for (const resource of RESOURCES) db.prepare("insert into to_read (resource) values (?)").run(resource);
  return db.prepare("insert into walks (started_at) values (?)").run(startedAt).lastInsertRowid;
}

/**
 * Takes the record as listed, also if its `updated_at` is earlier: an import may have set it back.
 *
 * @param {DatabaseSync} db
 * @param {string} resource
 * @param {{ id: string, created_at: string, updated_at: string }} record
 * @param {number | bigint} walkId
 * @param {string} listedAt
 */
function store(db, resource, record, walkId, listedAt) {
  db.prepare(
    `insert or replace into records (resource, id, created_at, updated_at, record, listed_in, listed_at)
     values (?, ?, ?, ?, ?, ?, ?)`,
  ).run(resource, record.id, record.created_at, record.updated_at, JSON.stringify(record), walkId, listedAt);
}

/** The lists whose cursor was refused in this run. */
const restarted = new Set();

/**
 * Returns a page, its brand, and when it was requested and listed. Waits and asks again as the responses say.
 *
 * @param {DatabaseSync} db
 * @param {string} resource
 * @param {string | null} cursor
 * @returns {Promise<{ page: any, brand: string, askedAt: string, listedAt: string }>}
 */
async function getPage(db, resource, cursor) {
  const query = new URLSearchParams({ limit: "200", ...(cursor !== null && { cursor }) });
  const url = `${BASE_URL}/api/v1/${resource}?${query.toString()}`;
  let [failures, waits] = [0, 0];
  for (;;) {
    await sleep(60_000 / Number(REQUESTS_PER_MINUTE || Infinity));
    const [key, askedAt] = [await readKey(), now()];
    const { status, headers, body } = await send(url, key);
    const brand = headers.get("X-Brand-Id");
    if (status === 200 && brand === null) throw new Stop(2, `${url} returns no X-Brand-Id: is BASE_URL the address of the service?`);
    if (status === 200 && brand !== null && Array.isArray(body?.data)) {
      // The Date of the response is the service's time, which events have too.
      const listedAt = new Date(Date.parse(headers.get("Date") ?? "") || Date.now()).toISOString();
      return { page: body, brand, askedAt, listedAt };
    }
    const error = body?.error;
    const problem = `${resource}: ${error?.code ?? `HTTP ${status}`}: ${error?.message ?? explain(status, headers)}`;
    // The key was replaced while the request was on its way.
    if (status === 401 && (await readKey()) !== key) continue;
    if (error?.code === "invalid_cursor") {
      db.prepare("update to_read set cursor = null where resource = ?").run(resource);
      if (restarted.has(resource)) throw new Stop(1, `${problem} The next run reads this list from its start.`);
      restarted.add(resource);
      console.error(`${problem} Reading this list from its start.`);
      return getPage(db, resource, null);
    }
    let pause;
    // A 200 without a whole page was cut on its way.
    const mayPass = [0, 200, 408].includes(status) || status >= 500;
    if (status === 429 && waits < WAITS_MAX) [waits, pause] = [waits + 1, 1];
    else if (mayPass && failures < FAILURES_MAX) {
      pause = Math.min(60, 2 ** failures) * (1 + 0.2 * Math.random());
      failures += 1;
    } else throw new Stop(mayPass || status === 429 ? 1 : 2, problem);
    const retryAfter = headers.get("Retry-After") ?? "";
    if (/^[0-9]{1,9}$/.test(retryAfter)) pause = Math.max(pause, Math.min(3600, Number(retryAfter)));
    console.error(`${problem} Trying again in ${pause.toFixed()} s.`);
    await sleep(1_000 * pause);
  }
}

/**
 * @param {number} status
 * @param {Headers} headers
 */
function explain(status, headers) {
  if (status === 200) return "the body is not a whole page.";
  const location = headers.get("Location");
  return location === null ? "no explanation." : `it redirects to ${location}: is BASE_URL right?`;
}

/**
 * Returns status, headers and the JSON value; status 0 and the reason if no complete response came.
 *
 * @param {string} url
 * @param {string} key
 * @returns {Promise<{ status: number, headers: Headers, body: any }>}
 */
async function send(url, key) {
  try {
    // The API has no redirects, and a key must not follow one to another host.
    const options = { headers: { authorization: `Bearer ${key}` }, redirect: /** @type {const} */ ("manual") };
    const response = await fetch(url, { ...options, signal: AbortSignal.timeout(REQUEST_MS_MAX) });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parse(text) };
  } catch (error) {
    const { message, cause } = /** @type {Error} */ (error);
    const reason = cause instanceof Error ? `${message} (${cause.message}).` : `${message}.`;
    return { status: 0, headers: new Headers(), body: { error: { code: "no response", message: reason } } };
  }
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the key for every request, so that a key replaced in KEY_FILE is used at once. Waits for one that is being replaced. */
async function readKey(secondsMax = KEY_FILE_SECONDS_MAX) {
  const path = env["KEY_FILE"];
  for (let seconds = 0; ; seconds += 1) {
    const isMissing = path && !existsSync(path);
    const key = isMissing ? "" : path ? readFileSync(path, "utf8").trim() : (env["KEY"] ?? "");
    if (/^[!-~]+$/.test(key)) return key;
    const problem = isMissing ? `${path} is missing` : `there is no key in ${path || "KEY"}`;
    if (key || !path || seconds === secondsMax) throw new Stop(2, problem);
    if (seconds === 0) console.error(`${problem}: waiting for one`);
    await sleep(1_000);
  }
}

// Events, which are hints between two walks

/**
 * Merges a verified event into its record, if the event is newer. Returns what was done.
 *
 * @param {DatabaseSync} db
 * @param {any} event
 */
export function applyEvent(db, event) {
  const { resource, id, updated_at } = event?.data ?? {};
  if (![event?.brand_id, event?.created_at, resource, id].every((text) => typeof text === "string"))
    throw new Stop(2, "this is not the body of an event");
  return transaction(db, () => {
    if (db.prepare("select 1 from walks").get() === undefined) throw new Stop(2, `no walk has been made into ${COPY}`);
    requireBrand(db, event.brand_id);
    if (event.test === true) return "nothing is changed: this is a test event";
    if (typeof updated_at !== "string") return `${id} is not changed: the event has no updated_at`;
    const waiting = db.prepare("insert or replace into waiting_events values (?, ?, ?, ?, ?)");
    waiting.run(resource, id, updated_at, JSON.stringify(event), now());
    return merge(db, event);
  });
}

/**
 * Merges the events that came after a page was requested, and that it may lack.
 *
 * @param {DatabaseSync} db
 * @param {string} resource
 * @param {string} askedAt
 */
function mergeWaiting(db, resource, askedAt) {
  const waiting = db.prepare("select event from waiting_events where resource = ? and received_at >= ? order by updated_at");
  for (const { event } of waiting.all(resource, askedAt)) merge(db, JSON.parse(String(event)));
}

/**
 * @param {DatabaseSync} db
 * @param {any} event
 */
function merge(db, { created_at, data }) {
  const { resource, id, updated_at } = data;
  const row = db
    .prepare(
      `select record, ifnull(julianday(?) >= julianday(listed_at, ?), false) as is_since_listing
       from records where resource = ? and id = ?`,
    )
    .get(created_at, CLOCK_MARGIN, resource, id);
  if (row === undefined) return `${id} is not in the copy: the next walk brings the whole record`;
  const record = JSON.parse(String(row["record"]));
  if (updated_at <= record.updated_at) return `${id} is not changed: the copy has this state or a later one`;
  if (!row["is_since_listing"]) return `${id} is not changed: the copy has a later listing`;
  // An event has fields that are none of the record's, such as previous_status.
  for (const [name, value] of Object.entries(data)) if (Object.hasOwn(record, name)) record[name] = value;
  const update = db.prepare("update records set updated_at = ?, record = ? where resource = ? and id = ?");
  update.run(updated_at, JSON.stringify(record), resource, id);
  return `${id} is changed`;
}

/** @param {string[]} words */
async function main(words) {
  const [command = "walk", ...others] = words;
  if (others.length > 0 || !["walk", "event"].includes(command))
    throw new Stop(2, "usage: node sync.js [walk], or node sync.js event < body.json");
  if (!existsSync(dirname(COPY))) throw new Stop(2, `the folder of ${COPY} is missing`);
  if (command === "event") {
    const event = parse(readFileSync(0, "utf8"));
    return console.log(applyEvent(openCopy(), event));
  }
  const areRight = {
    BASE_URL: /^https?:\/\/\S+$/.test(BASE_URL) && URL.canParse(BASE_URL),
    REQUESTS_PER_MINUTE: /^([1-9][0-9]{0,5})?$/.test(REQUESTS_PER_MINUTE),
  };
  for (const [name, isRight] of Object.entries(areRight))
    if (!isRight) throw new Stop(2, `${name} is missing or malformed: README.md explains the settings`);
  await readKey(0);
  const held = lock();
  await walk(openCopy(true));
  held.close();
}

if (process.argv[1] !== undefined && import.meta.filename === realpathSync(process.argv[1])) {
  main(process.argv.slice(2)).catch((/** @type {NodeJS.ErrnoException} */ error) => {
    const isOfCopy = error.code === "ERR_SQLITE_ERROR";
    console.error(isOfCopy ? `${COPY}: ${error.message}` : error.message);
    if (error instanceof Stop) process.exitCode = error.exitCode;
    else if (isOfCopy) process.exitCode = 1;
    // A file cannot be read.
    else if (error.syscall !== undefined) process.exitCode = 2;
    else throw error;
  });
}
