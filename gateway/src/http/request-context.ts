import { randomUUID } from "node:crypto";
import type { AppError } from "@brand-records/errors";
import { traceparentFrom, type CallContext } from "@brand-records/rpc";
import type { NextFunction, Request, RequestHandler, Response } from "express";

/** Not one that holds a key or a signing secret, sent in the wrong header: it would stand in logs and answers. */
const SANE_REQUEST_ID = /^(?!.*(?:brk_|whsec_))[A-Za-z0-9._:-]{1,128}$/;

/** How an error is written on a path. */
export type ErrorForm = (error: AppError, requestId: string) => { readonly status: number; readonly body: string };

/** What is known of a request while it is served; the access log is written from it. */
export interface RequestContext extends CallContext {
  readonly startedAt: number;
  deadline: number;
  readonly signal: AbortSignal;
  /** Of the operation, once it is known; never the path, which callers make up. */
  route: string;
  brandId?: string;
  keyId?: string;
  errorKind?: string;
  /** On the assistants' path: what was sent. Names of ours only, or `other`. */
  rpc?: { readonly method: string; readonly generation?: string; tool?: string };
  /** Where errors are not written as the API's error body. */
  errorForm?: ErrorForm;
}

/** Begins every request: its id (the caller's when it is sane), its trace, its deadline, its end when the client leaves. */
export function requestContext(deadlineMs: number): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const given = request.headers["x-request-id"];
    const requestId = typeof given === "string" && SANE_REQUEST_ID.test(given) ? given : randomUUID();
    const traceparent = request.headers["traceparent"];
    const gone = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) gone.abort();
    });
    response.locals["context"] = {
      requestId,
      traceparent: traceparentFrom(typeof traceparent === "string" ? traceparent : undefined),
      deadline: Date.now() + deadlineMs,
      startedAt: performance.now(),
      signal: gone.signal,
      route: "none",
    } satisfies RequestContext;
    response.setHeader("X-Request-Id", requestId);
    next();
  };
}

export function contextOf(response: Response): RequestContext {
  return response.locals["context"] as RequestContext;
}
