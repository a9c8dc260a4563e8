/**
 * Keeps a copy of one brand's records in SQLite. README.md explains it; sync.py does the same without the client.
 *
 *     node sync.js                     read every list; an interrupted walk continues where it stopped
 *     node sync.js event < body.json   merge a verified event's body into the record that it reports
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BrandRecords, BrandRecordsError } from "@brand-records/client";
import { applyEvent, lock, openCopy, SqliteStore } from "./sqlite-store.js";
import { Stop } from "./stop.js";

const REQUEST_MS_MAX = 60_000;
/** Time for which a key file may be missing or empty because another program replaces it. */
const KEY_FILE_SECONDS_MAX = 30;

const env = process.env;
const COPY = env["COPY"] || "copy.db";
const BRAND_RECORDS_URL = (env["BRAND_RECORDS_URL"] ?? "").trim();
const REQUESTS_PER_MINUTE = env["REQUESTS_PER_MINUTE"] ?? "";
const EXPECTED_BRAND = env["BRAND_ID"] || undefined;

/** @param {import("node:sqlite").DatabaseSync} db */
async function walk(db) {
  const records = new BrandRecords({
    url: BRAND_RECORDS_URL,
    key: () => readKey(),
    expectBrand: EXPECTED_BRAND,
    timeoutMs: REQUEST_MS_MAX,
    onRetry: ({ error, delayMs, path }) =>
      console.error(`${describe(error, path)} Trying again in ${Math.max(1, Math.round(delayMs / 1_000))} s.`),
  });
  const store = new SqliteStore(db);
  const { progress } = store.load();
  if (progress !== undefined) console.error(`continuing the walk that began at ${progress.startedAt}`);
  /** @type {Map<string, { requests: number, records: number }>} */
  const counts = new Map();
  await records.sync(store, {
    ...(REQUESTS_PER_MINUTE !== "" && { requestsPerMinute: Number(REQUESTS_PER_MINUTE) }),
    onPage({ resource, records, progress: { toRead } }) {
      const before = counts.get(resource) ?? { requests: 0, records: 0 };
      const count = { requests: before.requests + 1, records: before.records + records.length };
      counts.set(resource, count);
      if (toRead[0]?.resource !== resource) console.log(`${resource}: ${count.records} records (requests: ${count.requests})`);
    },
    onRestart: (resource, error) => console.error(`${describe(error, resource)} Reading this list from its start.`),
  });
  const vanished = db.prepare("select resource || ': ' || count(*) as text from vanished group by resource").all();
  for (const { text } of vanished) console.error(`${String(text)} no longer listed, see the view vanished`);
}

/**
 * @param {BrandRecordsError} error
 * @param {string} where
 */
const describe = ({ code, message }, where) => `${where}: ${code}: ${message}`;

/** Reads the key for every request, so that a key replaced in BRAND_RECORDS_KEY_FILE is used at once. Waits for one that is being replaced. */
async function readKey(secondsMax = KEY_FILE_SECONDS_MAX) {
  const path = env["BRAND_RECORDS_KEY_FILE"];
  for (let seconds = 0; ; seconds += 1) {
    const isMissing = path && !existsSync(path);
    const key = isMissing ? "" : path ? readFileSync(path, "utf8").trim() : (env["BRAND_RECORDS_KEY"] ?? "");
    if (/^[!-~]+$/.test(key)) return key;
    const problem = isMissing ? `${path} is missing` : `there is no key in ${path || "BRAND_RECORDS_KEY"}`;
    if (key || !path || seconds === secondsMax) throw new Stop(2, problem);
    if (seconds === 0) console.error(`${problem}: waiting for one`);
    await sleep(1_000);
  }
}

/** @param {string} body of a verified event */
function merge(body) {
  const event = parse(body);
  if (![event?.brand_id, event?.created_at, event?.data?.resource, event?.data?.id].every((text) => typeof text === "string"))
    throw new Stop(2, "this is not the body of an event");
  const db = openCopy(COPY);
  const { brandId } = new SqliteStore(db).load();
  if (brandId === undefined) throw new Stop(2, `no walk has been made into ${COPY}`);
  requireBrand(event.brand_id, brandId);
  console.log(applyEvent(db, event));
}

/**
 * @param {string} given
 * @param {string | undefined} ofCopy
 */
function requireBrand(given, ofCopy) {
  for (const [source, expected] of Object.entries({ BRAND_ID: EXPECTED_BRAND, [COPY]: ofCopy })) {
    if (expected && expected !== given) throw new Stop(2, `this is brand ${given}, but ${source} is for ${expected}. Nothing was written.`);
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

/** @param {string[]} words */
async function main(words) {
  const [command = "walk", ...others] = words;
  if (others.length > 0 || !["walk", "event"].includes(command))
    throw new Stop(2, "usage: node sync.js [walk], or node sync.js event < body.json");
  if (!existsSync(dirname(COPY))) throw new Stop(2, `the folder of ${COPY} is missing`);
  if (command === "event") return merge(readFileSync(0, "utf8"));
  const areRight = {
    BRAND_RECORDS_URL: /^https?:\/\/\S+$/.test(BRAND_RECORDS_URL) && URL.canParse(BRAND_RECORDS_URL),
    REQUESTS_PER_MINUTE: /^([1-9][0-9]{0,5})?$/.test(REQUESTS_PER_MINUTE),
  };
  for (const [name, isRight] of Object.entries(areRight))
    if (!isRight) throw new Stop(2, `${name} is missing or malformed: README.md explains the settings`);
  await readKey(0);
  const held = lock(COPY);
  const db = openCopy(COPY, true);
  await walk(db).catch((/** @type {unknown} */ error) => {
    throw error instanceof BrandRecordsError ? stopOf(error, new SqliteStore(db).load().brandId) : error;
  });
  held.close();
}

/**
 * @param {BrandRecordsError} error
 * @param {string | undefined} brandOfCopy
 */
function stopOf(error, brandOfCopy) {
  if (error.code === "wrong_brand" && error.brandId !== undefined) requireBrand(error.brandId, brandOfCopy);
  const next = error.code === "invalid_cursor" ? " The next run reads this list from its start." : "";
  const mayPass = next !== "" || error.code === "no_response" || [408, 429].includes(error.status ?? 0) || (error.status ?? 0) >= 500;
  return new Stop(mayPass ? 1 : 2, `${error.code}: ${error.message}${next}`);
}

main(process.argv.slice(2)).catch((/** @type {NodeJS.ErrnoException} */ error) => {
  const isOfCopy = error.code === "ERR_SQLITE_ERROR";
  console.error(isOfCopy ? `${COPY}: ${error.message}` : error.message);
  if (error instanceof Stop) process.exitCode = error.exitCode;
  else if (isOfCopy) process.exitCode = 1;
  // A file cannot be read.
  else if (error.syscall !== undefined) process.exitCode = 2;
  else throw error;
});
