import { CHAT_KINDS } from "./chat.js";
import { replaceable } from "./replaceable.js";
import { EVENT_NAMES } from "./message.js";
import { PostedEvents } from "./posted-events.js";

/**
 * @typedef {object} Settings
 * @property {() => readonly string[]} secrets one, or two while the secret is rotated
 * @property {() => URL} chatUrl
 * @property {import("./chat.js").ChatKind} chatKind
 * @property {ReadonlySet<string>} events the types to post
 * @property {PostedEvents} posted
 * @property {string} host
 * @property {number} port
 * @property {number} stopGraceMs
 */

/**
 * Reads the environment, the files that it names, and opens the database: one start reports every problem.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {{ settings: Settings } | { problems: string[] }}
 */
export function readSettings(env) {
  /** @type {string[]} */
  const problems = [];
  const keepDays = attempt(() => number("RELAY_KEEP_DAYS", 35, 1, 3_650)) ?? 0;
  const settings = {
    secrets: attempt(() => replaceable(env, "RELAY_SECRET", secretsIn)),
    chatUrl: attempt(() => replaceable(env, "RELAY_CHAT_URL", chatUrlIn)),
    chatKind: attempt(() => chatKindIn(env["RELAY_CHAT_KIND"])),
    events: attempt(() => eventsIn(env["RELAY_EVENTS"])),
    posted: attempt(() => openPosted(env["RELAY_DATABASE"] || "relay.sqlite", keepDays)),
    host: env["HOST"] || "127.0.0.1",
    port: attempt(() => number("PORT", 8790, 0, 65_535)),
    stopGraceMs: attempt(() => number("STOP_GRACE_MS", 0, 0, 60_000)),
  };
  return problems.length > 0 ? { problems } : { settings: /** @type {Settings} */ (settings) };

  /**
   * @template T
   * @param {() => T} read
   * @returns {T | undefined}
   */
  function attempt(read) {
    try {
      return read();
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  /**
   * @param {string} name
   * @param {number} byDefault
   * @param {number} min
   * @param {number} max
   */
  function number(name, byDefault, min, max) {
    const text = env[name] || String(byDefault);
    const value = Number(text);
    if (!/^\d{1,9}$/.test(text) || value < min || value > max) throw new Error(`${name} must be a whole number from ${min} to ${max}`);
    return value;
  }
}

/** @param {string} text */
function secretsIn(text) {
  const secrets = itemsOf(text);
  if (secrets.length === 0 || secrets.length > 2 || !secrets.every((secret) => /^whsec_[A-Za-z0-9+/]{43}=$/.test(secret))) {
    throw new Error("must be the receiver's signing secret (whsec_…), or two, comma-separated, while it is rotated");
  }
  return secrets;
}

/** @param {string} text */
function chatUrlIn(text) {
  const isOneLine = !/\s/.test(text.trim());
  // The parser would join two lines to one URL.
  const url = isOneLine && URL.canParse(text) ? new URL(text) : null;
  const isLoopback = url?.protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
  // fetch accepts no user and password. The value is not repeated: it allows writing to the chat.
  if (url === null || (url.protocol !== "https:" && !isLoopback) || url.username !== "" || url.password !== "") {
    throw new Error("must be the chat's incoming webhook, one https://…");
  }
  return url;
}

/** @param {string | undefined} text */
function chatKindIn(text) {
  const kind = CHAT_KINDS.find((known) => known === text);
  if (kind === undefined) throw new Error(`RELAY_CHAT_KIND must be one of ${CHAT_KINDS.join(", ")}`);
  return kind;
}

/** @param {string | undefined} text */
function eventsIn(text) {
  const events = text ? itemsOf(text) : EVENT_NAMES;
  if (events.length === 0 || !events.every((type) => EVENT_NAMES.includes(type))) {
    throw new Error(`RELAY_EVENTS must name some of ${EVENT_NAMES.join(", ")}, comma-separated`);
  }
  return new Set(events);
}

/**
 * @param {string} path
 * @param {number} keepDays
 */
function openPosted(path, keepDays) {
  try {
    return new PostedEvents(path, keepDays);
  } catch (error) {
    throw new Error(`RELAY_DATABASE cannot be opened: ${error instanceof Error ? error.message : "unknown"}`, {
      cause: error,
    });
  }
}

/** @param {string} text */
const itemsOf = (text) => text.split(/[\s,]+/).filter((item) => item !== "");
