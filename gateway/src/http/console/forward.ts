import type { ServerResponse } from "node:http";
import { networkOf } from "@brand-records/edge";
import { AppError } from "@brand-records/errors";
import { KeyedSemaphore, NoRoomError } from "@brand-records/lifecycle";
import type { Request, RequestHandler, Response } from "express";
import { announcesBody, withBody } from "../body.ts";
import { apiForm, pageForm, wantsPage } from "../errors.ts";
import { contextOf, type ErrorForm } from "../request-context.ts";
import { AssetSearch } from "./asset-search.ts";
import { headersForClient, headersForConsole } from "./forwarded-headers.ts";
import { CONNECTIONS_MAX, type ConsoleResponse, type ConsoleUpstream, isSilence } from "./upstream.ts";

/** Requests in flight of one network: a quarter, so that one leaves room for the others. */
const IN_FLIGHT_OF_NETWORK = CONNECTIONS_MAX / 4;
const WAITING_OF_NETWORK = 256;
const WAITING_MAX = 1_024;
const WAIT_MS = 5_000;
/** Bytes of responses that their clients do not read: 150 of the largest. */
const UNREAD_BYTES_MAX = 64 * 1024 * 1024;

/** Paths of the console, with all below them. The rest of the gateway's paths stay its own. */
const CONSOLE_PATHS = ["/sign-in", "/auth", "/console", "/developers", "/workspaces"];

/** Route of all these paths in the access log and the metrics. */
export const CONSOLE_ROUTE = "console";

export interface ConsoleTarget {
  readonly upstream: Pick<ConsoleUpstream, "request" | "requestElsewhere">;
  /** Where people reach the service; the console gets its scheme. */
  readonly publicUrl: string;
}

export const isConsolePath = (path: string): boolean =>
  path === "/" || CONSOLE_PATHS.some((start) => path === start || path.startsWith(`${start}/`));

/**
 * Forwards the console's paths to its process. Nothing is streamed: a request body is read whole before a connection is taken and sent with
 * its length, a response is read whole before it is passed on. So no client decides how the bytes between the two processes are framed,
 * and none that sends or reads slowly occupies a connection.
 */
export function forwardToConsole({ upstream, publicUrl }: ConsoleTarget): RequestHandler {
  const proto = new URL(publicUrl).protocol.slice(0, -1);
  const inFlight = new KeyedSemaphore({
    perKey: () => IN_FLIGHT_OF_NETWORK,
    total: CONNECTIONS_MAX,
    waitingPerKey: WAITING_OF_NETWORK,
    waitingTotal: WAITING_MAX,
    waitMs: WAIT_MS,
  });
  const assets = new AssetSearch((asked) => upstream.requestElsewhere(asked));
  const send = sendBounded(UNREAD_BYTES_MAX);

  const forward = async (request: Request, response: Response, body: Buffer | undefined): Promise<void> => {
    const context = contextOf(response);
    const { signal } = context;
    const headers = headersForConsole(request, context, proto);
    const network = networkOf(context.address);
    const sent = { method: request.method, path: targetOf(request), headers, body, signal };
    let answer: ConsoleResponse;
    try {
      answer = await inFlight.run(network, () => {
        signal.throwIfAborted();
        return upstream.request(sent);
      });
      if (answer.statusCode === 404) answer = (await assets.find(sent, network)) ?? answer;
    } catch (error) {
      // The client has left.
      if (signal.aborted) return;
      throw consoleError(error);
    }
    response.statusCode = answer.statusCode;
    response.setHeaders(new Map(Object.entries(headersForClient(answer.headers))));
    send(response, answer.body);
  };

  return async (request, response, next) => {
    if (!isConsolePath(request.path)) return next();
    const context = contextOf(response);
    context.route = CONSOLE_ROUTE;
    context.errorForm = formFor(request);
    requireForwardable(request, response);
    if (request.method !== "POST") return forward(request, response, undefined);
    await withBody(request, response, "network", networkOf(context.address), (body) => forward(request, response, body));
  };
}

/**
 * Refuses what has no meaning on these paths and could be read in two ways further on, and closes the connection. So with what pages of
 * other sites send, which the console refuses, too: their bodies would take the memory of their readers' network.
 *
 * @throws AppError `invalid_request` or `origin_not_allowed`
 */
function requireForwardable(request: Request, response: Response): void {
  const problem = problemOf(request);
  if (problem === undefined) return;
  response.shouldKeepAlive = false;
  throw problem;
}

function problemOf(request: Request): AppError | undefined {
  const { method, headers } = request;
  const invalid = (message: string): AppError => new AppError("invalid_request", message);
  if (headers.upgrade !== undefined) return invalid("Nothing on this path can be upgraded to. Send the request without Upgrade.");
  if (headers.trailer !== undefined) return invalid("Trailers are not supported. Send the request without Trailer.");
  if (method !== "POST") return announcesBody(request) ? invalid(`${method} has no body on this path. Send it without one.`) : undefined;
  const { "sec-fetch-site": site = "same-origin" } = headers;
  return site === "same-origin" ? undefined : new AppError("origin_not_allowed", "Only the console's own pages may call this.");
}

/** Returns path and query, of a request that names the whole URL, too. */
function targetOf({ path, originalUrl }: Request): string {
  const query = originalUrl.indexOf("?");
  return query < 0 ? path : path + originalUrl.slice(query);
}

function consoleError(cause: unknown): AppError {
  if (cause instanceof NoRoomError) {
    return cause.isOfKey
      ? new AppError("rate_limited", "Too many requests of this network at the same time. Try again shortly.", {
          retryAfterSeconds: 2,
          cause,
        })
      : new AppError("unavailable", "The console is busy. Try again shortly.", { retryAfterSeconds: 2, cause });
  }
  if (isSilence(cause)) {
    return new AppError("timeout", "The console took too long to respond. Try again.", { cause, dependency: "console" });
  }
  return new AppError("unavailable", "The console is unavailable. Try again shortly.", {
    retryAfterSeconds: 2,
    cause,
    dependency: "console",
  });
}

const HOME = { path: "/developers", text: "Go to the overview" };

/** A browser that opens a page gets a page; the console's script gets JSON. */
const formFor = (request: Request): ErrorForm => (request.path.startsWith("/console/") || !wantsPage(request) ? apiForm : pageForm([HOME]));

/**
 * Sends whole responses and bounds the memory of those that their clients do not read: the one that has waited longest makes room for the
 * others. What the kernel's buffers hold does not count.
 */
function sendBounded(bytesMax: number): (response: ServerResponse, body: Buffer) => void {
  /** The oldest first. */
  const unread = new Map<ServerResponse, number>();
  let bytes = 0;
  const forget = (response: ServerResponse): void => {
    bytes -= unread.get(response) ?? 0;
    unread.delete(response);
  };
  return (response, body) => {
    unread.set(response, body.length);
    bytes += body.length;
    response.once("close", () => forget(response));
    response.end(body, () => forget(response));
    for (const [oldest] of unread) {
      if (bytes <= bytesMax) return;
      forget(oldest);
      oldest.destroy();
    }
  };
}
