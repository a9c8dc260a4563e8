import { CHAT_KINDS } from "./chat.js";
import { EVENT_NAMES } from "./message.js";

/**
 * @typedef {object} Settings
 * @property {readonly string[]} secrets one, or two while the secret is rotated
 * @property {URL} chatUrl
 * @property {import("./chat.js").ChatKind} chatKind
 * @property {ReadonlySet<string>} events the types to post
 * @property {number} port
 */

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {{ settings: Settings } | { problems: string[] }} the settings, or every problem
 */
export function readSettings(env) {
  /** @type {string[]} */
  const problems = [];
  const secrets = itemsOf(env["RELAY_SECRET"]);
  if (secrets.length === 0 || secrets.length > 2 || !secrets.every((secret) => /^whsec_[A-Za-z0-9+/]{43}=$/.test(secret))) {
    problems.push("RELAY_SECRET must be the receiver's signing secret (whsec_…), or two, comma-separated, while it is rotated");
  }
  const written = env["RELAY_CHAT_URL"] ?? "";
  const chatUrl = URL.canParse(written) ? new URL(written) : null;
  const isPlainLocal = chatUrl?.protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(chatUrl.hostname);
  if (chatUrl?.protocol !== "https:" && !isPlainLocal) {
    // The value is not repeated: it allows writing to the chat.
    problems.push("RELAY_CHAT_URL must be the chat's incoming webhook, https://…");
  }
  const chatKind = CHAT_KINDS.find((kind) => kind === env["RELAY_CHAT_KIND"]);
  if (chatKind === undefined) problems.push(`RELAY_CHAT_KIND must be one of ${CHAT_KINDS.join(", ")}`);
  const events = env["RELAY_EVENTS"] === undefined ? EVENT_NAMES : itemsOf(env["RELAY_EVENTS"]);
  if (events.length === 0 || !events.every((type) => EVENT_NAMES.includes(type))) {
    problems.push(`RELAY_EVENTS must name some of ${EVENT_NAMES.join(", ")}, comma-separated`);
  }
  const port = Number(env["PORT"] || "8787");
  if (!Number.isInteger(port) || port < 0 || port > 65_535) problems.push("PORT must be a port");
  if (problems.length > 0 || chatUrl === null || chatKind === undefined) return { problems };
  return { settings: { secrets, chatUrl, chatKind, events: new Set(events), port } };
}

/** @param {string | undefined} text */
const itemsOf = (text = "") =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
