import { type CallContext, requestIdFrom, type ServerErrorFields } from "@brand-records/rpc";
import type { TraceSpan } from "@brand-records/telemetry";
import type { Request, RequestHandler, Response } from "express";
import ipaddr from "ipaddr.js";

/** The state of a request while an edge serves it. The access log is written from it. */
export interface EdgeContext extends CallContext {
  /** Start, by performance.now(). */
  readonly startedAt: number;
  deadline: number;
  traceparent: string;
  readonly signal: AbortSignal;
  /** Undefined if the request is not sampled. The access log ends it. */
  readonly span: TraceSpan | undefined;
  /** The client's address, as the trusted proxies report it. Read once: after a failure the request has lost its socket, and reading it throws. */
  readonly address: string;
  /** The route that matched, never the path: callers choose paths freely, and metrics must stay bounded. */
  route: string;
  brandId?: string;
  keyId?: string;
  errorKind?: string;
  /** A failure on our side that arose in this process. */
  failure?: ServerErrorFields;
}

/** What an edge itself finds out about a request: its trace, its sender, and what else its own context has. */
export type Begun<Context extends EdgeContext> = Omit<Context, "requestId" | "deadline" | "startedAt" | "signal" | "route">;

/**
 * Gives every request its id (the caller's if it is sane), its deadline, a signal that aborts if the client disconnects, and what `begin`
 * returns.
 */
export function giveContext<Context extends EdgeContext>(deadlineMs: number, begin: (request: Request) => Begun<Context>): RequestHandler {
  return (request, response, next) => {
    const requestId = requestIdFrom(request.headers["x-request-id"]);
    const disconnected = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) disconnected.abort();
    });
    response.locals["context"] = {
      requestId,
      ...begin(request),
      deadline: Date.now() + deadlineMs,
      startedAt: performance.now(),
      signal: disconnected.signal,
      route: "none",
    };
    response.setHeader("X-Request-Id", requestId);
    next();
  };
}

/** Returns what `giveContext` has set; `Context` is that of its edge. */
export const contextOf = <Context extends EdgeContext>(response: Response): Context => response.locals["context"] as Context;

/** Returns what tells senders apart: an IPv4 address, or the /64 of an IPv6 address, all of which one host may have. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
}
