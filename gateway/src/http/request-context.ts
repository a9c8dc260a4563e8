import type { AppError } from "@brand-records/errors";
import { requestIdFrom, type CallContext, type ServerErrorFields } from "@brand-records/rpc";
import { startEdgeSpan, type TraceSpan } from "@brand-records/telemetry";
import type { NextFunction, Request, RequestHandler, Response } from "express";

/** Writes an error in the form of its path. */
export type ErrorForm = (
  error: AppError,
  requestId: string,
) => {
  readonly status: number;
  readonly body: string;
  /** Default: JSON. */
  readonly type?: string;
};

/** The state of a request while it is served. The access log is written from it. */
export interface RequestContext extends CallContext {
  readonly startedAt: number;
  /** The client's address, as the trusted proxies report it. Read once: after a failure the request has lost its socket, and reading it throws. */
  readonly address: string;
  deadline: number;
  traceparent: string;
  readonly signal: AbortSignal;
  /** Undefined if the request is not sampled. The access log ends it. */
  readonly span: TraceSpan | undefined;
  /** The route that matched, never the path: callers choose paths freely, and metrics must stay bounded. */
  route: string;
  brandId?: string;
  keyId?: string;
  errorKind?: string;
  /** A failure on our side that arose in this process. */
  failure?: ServerErrorFields;
  /** Undefined until it is known. */
  operation?: { readonly name: string; readonly via: "rest" | "assistant" };
  /** On the assistants' path, the message. Known names only, or `other`. */
  rpc?: { readonly method: string; readonly generation?: string; tool?: string };
  /** Default: the API's error body. */
  errorForm?: ErrorForm;
}

/** Gives every request its id (the caller's if it is sane), its trace, its deadline, and a signal that aborts if the client disconnects. */
export function requestContext(deadlineMs: number): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const requestId = requestIdFrom(request.headers["x-request-id"]);
    const { traceparent } = request.headers;
    const edge = startEdgeSpan(request.method, typeof traceparent === "string" ? traceparent : undefined, { kind: "server" });
    const disconnected = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) disconnected.abort();
    });
    response.locals["context"] = {
      requestId,
      ...edge,
      deadline: Date.now() + deadlineMs,
      startedAt: performance.now(),
      address: request.ip ?? "",
      signal: disconnected.signal,
      route: "none",
    } satisfies RequestContext;
    response.setHeader("X-Request-Id", requestId);
    next();
  };
}

export function contextOf(response: Response): RequestContext {
  return response.locals["context"] as RequestContext;
}
