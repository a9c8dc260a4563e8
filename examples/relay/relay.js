import { createServer } from "node:http";
import { ChatRefusal, postToChat } from "./chat.js";
import { readEvent } from "./message.js";
import { Once } from "./once.js";
import { isVerified } from "./verify.js";

/** Deliveries have at most some 20 KiB. */
const BODY_BYTES_MAX = 64 * 1024;
const REQUEST_MS = 15_000;
/** Messages on their way to the chat at once; who comes beyond comes again. */
const UNDER_WAY_MAX = 64;
const BUSY_SECONDS = 5;

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {string} said for the log here and in the service's list of attempts
 * @property {Record<string, string | number>} [headers]
 * @property {string} [eventId]
 */

/**
 * A server that takes deliveries, not yet listening. It answers 2xx only once the chat has the message.
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
    const { status, said, headers = {}, eventId } = await answerTo(request, settings, once).catch(failure);
    if (request.url !== "/healthz") log({ status, said, ...(eventId !== undefined && { event_id: eventId }) });
    // A connection that is kept would hold up a stop; one with half a request on it is of no use.
    const close = !server.listening || !request.complete ? { connection: "close" } : {};
    response.writeHead(status, { ...headers, ...close }).end(status === 204 ? undefined : `${said}\n`);
  }
  return server;
}

/**
 * @param {unknown} error
 * @returns {Answer}
 */
const failure = (error) => ({ status: 500, said: error instanceof Error ? error.name : "unknown" });

/**
 * @param {import("node:http").IncomingMessage} request
 * @param {import("./settings.js").Settings} settings
 * @param {Once} once
 * @returns {Promise<Answer>}
 */
async function answerTo(request, settings, once) {
  if (request.method === "GET" && request.url === "/healthz") return { status: 200, said: "ok" };
  if (request.method !== "POST") return { status: 405, said: "only POST", headers: { allow: "POST" } };
  const body = await bodyOf(request);
  if (body === undefined) return { status: 413, said: "too large" };
  if (!isVerified(request.headers, body, settings.secrets, Date.now() / 1_000)) return { status: 401, said: "not verified" };
  const event = readEvent(body);
  // By the body: the header is not signed.
  if (event === undefined || event.type !== request.headers["x-service-event"] || !settings.events.has(event.type)) {
    return { status: 422, said: "not an event that is passed on" };
  }
  const eventId = event.id;
  if (once.underWay >= UNDER_WAY_MAX) return { status: 503, said: "busy", headers: { "retry-after": BUSY_SECONDS }, eventId };
  try {
    const posted = await once.run(eventId, () => postToChat(settings, event));
    return { status: 204, said: posted ? "posted" : "posted before", eventId };
  } catch (error) {
    if (!(error instanceof ChatRefusal)) throw error;
    const { message, retryAfterSeconds } = error;
    return {
      status: 503,
      said: message,
      ...(retryAfterSeconds !== undefined && { headers: { "retry-after": retryAfterSeconds } }),
      eventId,
    };
  }
}

/**
 * The raw body; undefined if it is too large.
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
      // Not destroyed: the answer is still to be told.
      request.pause();
      resolve(undefined);
    });
    request.on("end", () => resolve(Buffer.concat(chunks)));
    request.on("error", reject);
  });
}
