import { createServer } from "node:http";
import { ChatRefusal, postToChat } from "./chat.js";
import { readEvent } from "./message.js";
import { Once } from "./once.js";
import { isVerified } from "./verify.js";

/** Leaves a margin: deliveries have at most 20 KiB. */
const BODY_BYTES_MAX = 64 * 1024;
const REQUEST_MS = 15_000;
/** Messages in flight to the chat. Further deliveries get 503 and are retried. */
const IN_FLIGHT_MAX = 64;
const BUSY_SECONDS = 5;

/**
 * @typedef {object} Result
 * @property {number} status
 * @property {string} message for the relay's log, and for the response, which the service shows in its list of attempts
 * @property {Record<string, string | number>} [headers]
 * @property {string} [eventId]
 */

/**
 * Creates a server for deliveries, not yet listening. It responds with 2xx only once the chat has the message.
 *
 * @param {import("./settings.js").Settings} settings
 * @param {(line: object) => void} log
 */
export function createRelay(settings, log) {
  const once = new Once();
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
    void serve(request, response);
  });

  /**
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   */
  async function serve(request, response) {
    const { status, message, headers = {}, eventId } = await handle(request, settings, once).catch(failure);
    if (request.url !== "/healthz") log({ status, message, ...(eventId !== undefined && { event_id: eventId }) });
    // A connection kept alive would delay a stop. A connection whose request was not read to the end cannot be used again.
    const close = !server.listening || !request.complete ? { connection: "close" } : {};
    response.writeHead(status, { ...headers, ...close }).end(status === 204 ? undefined : `${message}\n`);
  }
  return server;
}

/**
 * @param {unknown} error
 * @returns {Result}
 */
const failure = (error) => ({ status: 500, message: error instanceof Error ? error.name : "unknown" });

/**
 * @param {import("node:http").IncomingMessage} request
 * @param {import("./settings.js").Settings} settings
 * @param {Once} once
 * @returns {Promise<Result>}
 */
async function handle(request, settings, once) {
  if (request.method === "GET" && request.url === "/healthz") return { status: 200, message: "ok" };
  if (request.method !== "POST") return { status: 405, message: "only POST", headers: { allow: "POST" } };
  const body = await bodyOf(request);
  if (body === undefined) return { status: 413, message: "too large" };
  if (!isVerified(request.headers, body, settings.secrets, Date.now() / 1_000)) return { status: 401, message: "not verified" };
  const event = readEvent(body);
  // Reads the type from the body, which is signed. The header is not signed, so a header that differs is refused.
  if (event === undefined || event.type !== request.headers["x-service-event"] || !settings.events.has(event.type)) {
    return { status: 422, message: "not a configured event" };
  }
  const eventId = event.id;
  if (once.inFlight >= IN_FLIGHT_MAX) return { status: 503, message: "busy", headers: { "retry-after": BUSY_SECONDS }, eventId };
  try {
    const posted = await once.run(eventId, () => postToChat(settings, event));
    return { status: 204, message: posted ? "posted" : "posted before", eventId };
  } catch (error) {
    if (!(error instanceof ChatRefusal)) throw error;
    const { message, retryAfterSeconds } = error;
    return {
      status: 503,
      message,
      ...(retryAfterSeconds !== undefined && { headers: { "retry-after": retryAfterSeconds } }),
      eventId,
    };
  }
}

/**
 * Reads the raw body. Resolves with undefined if it is too large.
 *
 * @param {import("node:http").IncomingMessage} request
 * @returns {Promise<Buffer | undefined>}
 */
function bodyOf(request) {
  return new Promise((resolve, reject) => {
    /** @type {Buffer[]} */
    const chunks = [];
    let bytes = 0;
    request.on("data", (/** @type {Buffer} */ chunk) => {
      bytes += chunk.length;
      if (bytes <= BODY_BYTES_MAX) return chunks.push(chunk);
      // Paused, not destroyed: the response must still be sent.
      request.pause();
      resolve(undefined);
    });
    request.on("end", () => resolve(Buffer.concat(chunks)));
    request.on("error", reject);
  });
}
