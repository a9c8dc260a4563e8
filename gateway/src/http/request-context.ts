import { contextOf as edgeContextOf, giveContext, type EdgeContext } from "@brand-records/edge";
import type { AppError } from "@brand-records/errors";
import { startEdgeSpan } from "@brand-records/telemetry";
import type { RequestHandler, Response } from "express";
import type { Via } from "../operations/operation.ts";

/**
 * Writes an error in the form of its path.
 *
 * @param docs address of the page about errors
 */
export type ErrorForm = (
  error: AppError,
  requestId: string,
  docs: string,
) => {
  readonly status: number;
  readonly body: string;
  /** Default: JSON. */
  readonly type?: string;
};

/** The state of a request while it is served. */
export interface RequestContext extends EdgeContext {
  /** Address of the page about errors. */
  readonly errorDocs: string;
  readonly userAgent?: string | undefined;
  /** Undefined until it is known. */
  operation?: { readonly name: string; readonly via: Via };
  /** The message, on the assistants' path. Known names only, or `other`. */
  rpc?: { readonly method: string; readonly generation?: string; tool?: string };
  /** What the error is about, as the caller spells it. */
  errorField?: string;
  /** Default: the API's error body. */
  errorForm?: ErrorForm;
}

/** Gives every request its context. The trace begins here unless the caller has one. */
export const requestContext = (deadlineMs: number, errorDocs: string): RequestHandler =>
  giveContext<RequestContext>(deadlineMs, (request) => {
    const { traceparent, "user-agent": userAgent } = request.headers;
    const edge = startEdgeSpan(request.method, typeof traceparent === "string" ? traceparent : undefined, { kind: "server" });
    return { ...edge, errorDocs, userAgent, address: request.ip ?? "" };
  });

export const contextOf = (response: Response): RequestContext => edgeContextOf(response);
