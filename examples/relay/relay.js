import { createServer } from "node:http";
import { BodyProblem, readBody } from "./body.js";
import { DeliveryHandler, failureOf } from "./delivery.js";

/** A delivery has 15 s in total. */
const REQUEST_MS = 15_000;
/** How often Node looks for requests that take longer. Its default is 30 s. */
const REQUEST_CHECK_MS = 2_000;
const CONNECTIONS_MAX = 256;

/** @typedef {import("./delivery.js").Result} Result */

/**
 * Creates a server for deliveries and probes, not yet listening.
 *
 * @param {import("./settings.js").Settings} settings
 * @param {(line: object) => void} log
 */
export function createRelay(settings, log) {
  const deliveries = new DeliveryHandler(settings);
  let isStopping = false;
  const limits = { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, connectionsCheckingInterval: REQUEST_CHECK_MS };
  const server = createServer(limits, (request, response) => void serve(request, response));
  server.maxConnections = CONNECTIONS_MAX;
  return { server, stopping: () => void (isStopping = true) };

  /**
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   */
  async function serve(request, response) {
    const isProbe = request.method === "GET" || request.method === "HEAD";
    if (isProbe && request.url === "/healthz") return void response.end("ok\n");
    if (isProbe && request.url === "/readyz") return respondReadiness(response);
    const { status, level, message, retryAfterSeconds, eventId, stack } = await handle(request).catch(failureOf);
    log({ level, status, message, ...(eventId !== undefined && { event_id: eventId }), ...(stack !== undefined && { stack }) });
    if (retryAfterSeconds !== undefined) response.setHeader("retry-after", retryAfterSeconds);
    if (status === 405) response.setHeader("allow", "POST");
    // A connection kept alive would delay a stop. One whose request was not read to the end cannot be used again.
    if (isStopping || !request.complete) response.setHeader("connection", "close");
    response.writeHead(status).end(status === 204 ? undefined : `${message}\n`);
  }

  /**
   * @param {import("node:http").IncomingMessage} request
   * @returns {Promise<Result>}
   */
  async function handle(request) {
    if (request.method !== "POST") return { status: 405, level: "warn", message: "only POST" };
    try {
      return await deliveries.handle(request.headers, await readBody(request));
    } catch (error) {
      if (error instanceof BodyProblem) return { status: error.status, level: "warn", message: error.message };
      throw error;
    }
  }

  /**
   * A refused message does not make the relay unready: without traffic it would neither report the refusal to the service, nor
   * notice that it is over.
   *
   * @param {import("node:http").ServerResponse} response
   */
  function respondReadiness(response) {
    const problems = [() => settings.posted.checkWritable(), settings.secrets, settings.chatUrl].flatMap(problemOf);
    if (isStopping) problems.push("stopping");
    const degraded = deliveries.chatProblem === undefined ? [] : [deliveries.chatProblem];
    response.writeHead(problems.length === 0 ? 200 : 503, { "content-type": "application/json" });
    const status = problems.length === 0 ? "ready" : "not ready";
    response.end(
      `${JSON.stringify({ status, ...(problems.length > 0 && { waiting_for: problems }), ...(degraded.length > 0 && { degraded }) })}\n`,
    );
  }
}

/**
 * @param {() => unknown} check
 * @returns {string[]}
 */
function problemOf(check) {
  try {
    check();
    return [];
  } catch (error) {
    return [failureOf(error).message];
  }
}
