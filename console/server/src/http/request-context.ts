import { isIP } from "node:net";
import { networkOf } from "@brand-records/config";
import { requestIdFrom, type CallContext, type ServerErrorFields } from "@brand-records/rpc";
import { startSpan, traceparentFrom, type TraceSpan } from "@brand-records/telemetry";
import type { RequestHandler, Response } from "express";

/** The state of a request while it is served. The access log is written from it. */
export interface RequestContext extends CallContext {
  readonly startedAt: number;
  deadline: number;
  /** Undefined if the request is not sampled, as the gateway decides. The access log ends it. */
  readonly span: TraceSpan | undefined;
  /** The address of the person who sent it, as the trusted proxies report it. */
  readonly address: string;
  /** What limits count for that address. */
  readonly network: string;
  /** The route that matched, never the path: metrics must stay bounded. */
  route: string;
  brandId?: string;
  errorKind?: string;
  /** A failure on our side that arose in this process. */
  failure?: ServerErrorFields;
}

/** Some proxies add a port to the address that they report, and IPv6 addresses of a link have a zone. Empty if it is no address. */
export function addressOf(reported: string | undefined): string {
  const [, bare = reported ?? ""] = /^(?:\[([^\]]+)\](?::\d+)?)$/.exec(reported ?? "") ?? /^([\d.]+):\d+$/.exec(reported ?? "") ?? [];
  const [address = ""] = bare.split("%");
  return isIP(address) === 0 ? "" : address;
}

/** Gives every request its id (the gateway's), its trace, its deadline, and a signal that aborts if the client disconnects. */
export function requestContext(deadlineMs: number): RequestHandler {
  return (request, response, next) => {
    const requestId = requestIdFrom(request.headers["x-request-id"]);
    const { traceparent: received } = request.headers;
    const caller = traceparentFrom(typeof received === "string" ? received : undefined);
    const span = startSpan(request.method, caller, { kind: "server" });
    const disconnected = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) disconnected.abort();
    });
    const address = addressOf(request.ip);
    response.locals["context"] = {
      requestId,
      traceparent: span?.traceparent ?? caller,
      span,
      deadline: Date.now() + deadlineMs,
      startedAt: performance.now(),
      address,
      network: networkOf(address),
      signal: disconnected.signal,
      route: "none",
    } satisfies RequestContext;
    response.setHeader("X-Request-Id", requestId);
    next();
  };
}

export const contextOf = (response: Response): RequestContext => response.locals["context"] as RequestContext;
