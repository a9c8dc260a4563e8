import { randomUUID } from "node:crypto";
import { isIP } from "node:net";
import { traceparentFrom, type CallContext } from "@brand-records/rpc";
import type { RequestHandler, Response } from "express";

/** Refuses ids that hold a key, a signing secret or a token sent in the wrong header: ids appear in logs and responses. */
const SANE_REQUEST_ID = /^(?!.*(?:brk_|whsec_))[A-Za-z0-9._:-]{1,128}$/;

/** The state of a request while it is served. The access log is written from it. */
export interface RequestContext extends CallContext {
  readonly startedAt: number;
  /** Of the person who sent it, as the trusted proxies report it. */
  readonly address: string;
  /** The route that matched, never the path: metrics must stay bounded. */
  route: string;
  brandId?: string;
  errorKind?: string;
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
    const given = request.headers["x-request-id"];
    const requestId = typeof given === "string" && SANE_REQUEST_ID.test(given) ? given : randomUUID();
    const { traceparent } = request.headers;
    const disconnected = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) disconnected.abort();
    });
    response.locals["context"] = {
      requestId,
      traceparent: traceparentFrom(typeof traceparent === "string" ? traceparent : undefined),
      deadline: Date.now() + deadlineMs,
      startedAt: performance.now(),
      address: addressOf(request.ip),
      signal: disconnected.signal,
      route: "none",
    } satisfies RequestContext;
    response.setHeader("X-Request-Id", requestId);
    next();
  };
}

export const contextOf = (response: Response): RequestContext => response.locals["context"] as RequestContext;
