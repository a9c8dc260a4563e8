import { ChatRefusal } from "./chat-refusal.js";
import { chatKey, postToChat } from "./chat.js";
import { readMessage } from "./message.js";
import { SettingProblem } from "./replaceable.js";
import { isVerified } from "./verify.js";

/** Messages in flight to the chat. Further deliveries get 503 and are retried. */
const IN_FLIGHT_MAX = 64;
const BUSY_SECONDS = 5;

/**
 * @typedef {object} Result
 * @property {number} status
 * @property {"info" | "warn" | "error"} level an error needs a person
 * @property {string} message for the relay's log, and for the response, which the service shows in its list of attempts
 * @property {number} [retryAfterSeconds]
 * @property {string} [eventId]
 * @property {string} [stack] for the log only
 */

export class DeliveryHandler {
  #settings;
  #inFlight = 0;
  /** Why the last message was refused, if that needs a person. @type {string | undefined} */
  chatProblem;

  /** @param {import("./settings.js").Settings} settings */
  constructor(settings) {
    this.#settings = settings;
  }

  /**
   * Resolves with 2xx only once the chat has the message.
   *
   * @param {import("node:http").IncomingHttpHeaders} headers
   * @param {Buffer} body
   * @returns {Promise<Result>}
   */
  async handle(headers, body) {
    const { secrets, events } = this.#settings;
    if (!isVerified(headers, body, secrets(), Date.now() / 1_000)) return { status: 401, level: "warn", message: "not verified" };
    const message = readMessage(body);
    // Reads the type from the body, which is signed. The header is not signed, so a header that differs is refused.
    if (message === undefined || message.type !== headers["x-service-event"]) {
      return { status: 422, level: "warn", message: "not an event that this relay knows" };
    }
    if (!events.has(message.type)) return { status: 422, level: "warn", message: `${message.type} is not in RELAY_EVENTS` };
    if (this.#inFlight >= IN_FLIGHT_MAX) return { status: 503, level: "warn", message: "busy", retryAfterSeconds: BUSY_SECONDS };
    this.#inFlight += 1;
    try {
      return { ...(await this.#postOnce(message)), eventId: message.eventId };
    } catch (error) {
      return { ...failureOf(error), eventId: message.eventId };
    } finally {
      this.#inFlight -= 1;
    }
  }

  /**
   * @param {import("./message.js").Message} message
   * @returns {Promise<Result>}
   */
  async #postOnce(message) {
    const { posted, chatKind, chatUrl } = this.#settings;
    // Read once: the post goes to the chat of the claim, also if the URL's file changes meanwhile.
    const chat = { kind: chatKind, url: chatUrl() };
    const key = { chat: chatKey(chat), eventId: message.eventId };
    const claim = posted.claim(key);
    if (claim.state === "posted") return { status: 204, level: "info", message: "posted before" };
    if (claim.state === "in progress") {
      return { status: 503, level: "info", message: "another request is posting this event", retryAfterSeconds: claim.seconds };
    }
    try {
      await postToChat(chat, message);
    } catch (error) {
      this.chatProblem = error instanceof ChatRefusal && error.needsPerson ? error.message : undefined;
      posted.release(key, claim.lease);
      throw error;
    }
    this.chatProblem = undefined;
    try {
      posted.record(key);
    } catch (error) {
      // 503 would post the line again with every retry.
      return { status: 204, level: "error", message: `posted, but a repeated delivery will post it again: ${failureOf(error).message}` };
    }
    return { status: 204, level: "info", message: "posted" };
  }
}

/**
 * Every failure is retried by the service, which keeps the response's text. 503 passes without a person, and carries Retry-After.
 * 424 does not pass until a person changes something: a status that no proxy in between sends or replaces, as several do with
 * 502. Not 410, which would disable the receiver.
 *
 * @param {unknown} error
 * @returns {Result}
 */
export function failureOf(error) {
  if (error instanceof ChatRefusal) {
    const { message, retryAfterSeconds } = error;
    return retryAfterSeconds === undefined
      ? { status: 424, level: "error", message }
      : { status: 503, level: "warn", message, retryAfterSeconds };
  }
  if (error instanceof SettingProblem) return { status: 503, level: "error", message: error.message };
  if (error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR") {
    return { status: 503, level: "error", message: `RELAY_DATABASE cannot be written: ${error.message}` };
  }
  return {
    status: 500,
    level: "error",
    message: "internal error",
    stack: error instanceof Error ? (error.stack ?? error.name) : "unknown",
  };
}
