import { randomUUID } from "node:crypto";
import type { AppError } from "@brand-records/errors";
import { traceparentFrom, type CallContext } from "@brand-records/rpc";
import type { NextFunction, Request, RequestHandler, Response } from "express";

/** Refuses ids that hold a key or a signing secret sent in the wrong header: ids appear in logs and responses. */
const SANE_REQUEST_ID = /^(?!.*(?:brk_|whsec_))[A-Za-z0-9._:-]{1,128}$/;

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
  deadline: number;
  readonly signal: AbortSignal;
  /** The route that matched, never the path: callers choose paths freely, and metrics must stay bounded. */
  route: string;
  brandId?: string;
  keyId?: string;
  errorKind?: string;
  /** On the assistants' path, the message. Known names only, or `other`. */
  rpc?: { readonly method: string; readonly generation?: string; tool?: string };
  /** Default: the API's error body. */
  errorForm?: ErrorForm;
}

/** Gives every request its id (the caller's if it is sane), its trace, its deadline, and a signal that aborts if the client disconnects. */
export function requestContext(deadlineMs: number): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const given = request.headers["x-request-id"];
    const requestId = typeof given === "string" && SANE_REQUEST_ID.test(given) ? given : randomUUID();
    const traceparent = request.headers["traceparent"];
    const disconnected = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) disconnected.abort();
    });
    response.locals["context"] = {
      requestId,
      traceparent: traceparentFrom(typeof traceparent === "string" ? traceparent : undefined),
      deadline: Date.now() + deadlineMs,
      startedAt: performance.now(),
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
