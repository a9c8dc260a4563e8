import { request as httpRequest, Agent, type IncomingMessage, type OutgoingHttpHeaders, type RequestOptions } from "node:http";
import { request as httpsRequest, Agent as TlsAgent } from "node:https";
import { isIP } from "node:net";
import { pipeline } from "node:stream";
import { AppError } from "@brand-records/errors";
import { serverCheck, type Certificates } from "@brand-records/rpc";
import type { Request, RequestHandler, Response } from "express";
import { contextOf, type ErrorForm } from "./request-context.ts";
import { apiForm } from "./errors.ts";

/** Requests in flight to the console; more wait. */
const SOCKETS_MAX = 256;
/** The console closes idle connections after 65 s: with an earlier end here, no request meets a closing connection. */
const IDLE_MS = 30_000;
/** Without a byte from the console for this long, a request fails. The console's own deadline is shorter. */
const SILENCE_MS = 20_000;
/** For a free connection. Slow clients may hold all of them. */
const WAIT_MS = 5_000;

/** Paths of the console, with all below them. The rest of the gateway's paths stay its own. */
const CONSOLE_PATHS = ["/sign-in", "/auth", "/console", "/developers", "/workspaces"];

/** In the access log and the metrics, of all these paths. */
export const CONSOLE_ROUTE = "console";

/** These end at each hop, or name what the gateway itself sets. Authorization is no business of the console's: it knows cookies only. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
  "expect",
  "authorization",
  "proxy-authorization",
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
]);

export interface ConsoleTarget {
  /** host:port. */
  readonly address: string;
  /** Without them over plain HTTP. */
  readonly certificates: Certificates | undefined;
  /** Where people reach the service; the console gets its scheme. */
  readonly publicUrl: string;
}

const isConsolePath = (path: string): boolean =>
  path === "/" || CONSOLE_PATHS.some((start) => path === start || path.startsWith(`${start}/`));

/** Forwards the console's paths to its process, as streams in both directions. If one side ends early, so does the other. */
export function forwardToConsole({ address, certificates, publicUrl }: ConsoleTarget): RequestHandler {
  const { hostname, port } = new URL(`http://${address}`);
  const host = hostname.replaceAll(/^\[|\]$/g, "");
  let agent = agentWith(certificates);
  // The connections of the old agent end when they are idle.
  certificates?.listen({ onReplaced: () => void (agent = agentWith(certificates)) });
  const send = certificates === undefined ? httpRequest : httpsRequest;
  const proto = new URL(publicUrl).protocol.slice(0, -1);

  const forward = (request: Request, response: Response, mayRepeat: boolean, next: (error: unknown) => void): void => {
    const options: RequestOptions = {
      host,
      port,
      // Else Node compares the certificate with the forwarded Host header.
      ...(certificates !== undefined && isIP(host) === 0 && { servername: host }),
      method: request.method,
      path: request.originalUrl,
      headers: headersFor(request, response, proto),
      agent,
      timeout: SILENCE_MS,
      setHost: false,
    };
    const upstream = send(options);
    // `timeout` begins with the connection.
    const waiting = setTimeout(() => upstream.destroy(new Error("no connection to the console is free")), WAIT_MS);
    upstream.once("socket", () => clearTimeout(waiting));
    upstream.once("close", () => clearTimeout(waiting));
    let isTimedOut = false;
    upstream.once("timeout", () => {
      isTimedOut = true;
      upstream.destroy();
    });
    upstream.once("response", (answer) => respond(answer, response));
    upstream.once("error", (error) => {
      // The client has disconnected, or part of the response is sent: `pipeline` has ended it.
      if (response.destroyed || response.headersSent) return;
      // The console closed a kept connection as the request was sent: it has not read a byte of it.
      if (upstream.reusedSocket && mayRepeat) return forward(request, response, false, next);
      next(isTimedOut ? timedOut(error) : unavailable(error));
    });
    response.once("close", () => {
      if (!response.writableFinished) upstream.destroy();
    });
    if (!hasBody(request)) return void upstream.end();
    // A client that waits for 100 Continue sends the body only now.
    if (request.headers.expect !== undefined) response.writeContinue();
    pipeline(request, upstream, () => {});
  };

  return (request, response, next) => {
    if (!isConsolePath(request.path)) return next();
    const context = contextOf(response);
    context.route = CONSOLE_ROUTE;
    context.errorForm = formFor(request);
    forward(request, response, request.method === "GET" || request.method === "HEAD", next);
  };
}

function agentWith(certificates: Certificates | undefined): Agent {
  const options = { keepAlive: true, maxSockets: SOCKETS_MAX, timeout: IDLE_MS };
  if (certificates === undefined) return new Agent(options);
  return new TlsAgent({ ...options, ...certificates.current, checkServerIdentity: serverCheck(certificates, "console") });
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

function headersFor(request: Request, response: Response, proto: string): OutgoingHttpHeaders {
  const dropped = new Set(request.headers.connection?.toLowerCase().split(/\s*,\s*/));
  const kept = Object.entries(request.headers).filter(([name]) => !NOT_FORWARDED.has(name) && !dropped.has(name));
  const { requestId, traceparent } = contextOf(response);
  return {
    ...Object.fromEntries(kept),
    "x-request-id": requestId,
    traceparent,
    "x-forwarded-for": request.ip ?? "",
    "x-forwarded-host": request.headers.host ?? "",
    "x-forwarded-proto": proto,
  };
}

function respond(answer: IncomingMessage, response: Response): void {
  const dropped = new Set(["connection", "keep-alive", "transfer-encoding"]);
  response.statusCode = answer.statusCode ?? 502;
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined && !dropped.has(name)) response.setHeader(name, value);
  }
  pipeline(answer, response, () => {});
}

const unavailable = (cause: Error): AppError =>
  new AppError("unavailable", "The console is unavailable. Try again shortly.", { retryAfterSeconds: 2, cause, dependency: "console" });

const timedOut = (cause: Error): AppError =>
  new AppError("timeout", "The console took too long to respond. Try again.", { cause, dependency: "console" });

/** A browser that opens a page gets a page; the console's script gets JSON. */
function formFor(request: Request): ErrorForm {
  if (request.path.startsWith("/console/") || !request.accepts(["json", "html"])?.toString().includes("html")) return apiForm;
  return (error, requestId) => ({
    status: apiForm(error, requestId).status,
    type: "text/html; charset=utf-8",
    // Nothing of the request is in it.
    body: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Unavailable</title><h1>${error.message}</h1><p>Request id ${requestId}</p></html>`,
  });
}
