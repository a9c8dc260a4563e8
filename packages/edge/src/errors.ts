import { AppError, type ErrorKind } from "@brand-records/errors";
import { NoRoomError } from "@brand-records/lifecycle";
import type { ServerErrors } from "@brand-records/rpc";
import type { ErrorRequestHandler, Response } from "express";
import { contextOf } from "./request-context.ts";

/** An error as callers see it, on every interface. */
export interface ErrorObject {
  readonly code: string;
  /** The part of the page about errors that explains the code. */
  readonly docs_url?: string;
  readonly message: string;
  readonly field?: string;
  readonly details?: NonNullable<AppError["details"]>;
  readonly request_id: string;
}

/** @param docs address of the page about errors; undefined for none */
export const errorObject = ({ kind, message, field, details }: AppError, requestId: string, docs?: string): ErrorObject => ({
  code: kind,
  ...(docs !== undefined && { docs_url: `${docs}#${kind}` }),
  message,
  ...(field !== undefined && { field }),
  ...(details !== undefined && { details }),
  request_id: requestId,
});

/** Returns the JSON of an error response. */
export const errorBody = (error: AppError, requestId: string, docs?: string): string =>
  JSON.stringify({ error: errorObject(error, requestId, docs) });

/**
 * The last middleware: turns any thrown value into a response. The access log writes what failed.
 *
 * @param send writes the response; called only if none has begun
 */
export function errorHandler(serverErrors: ServerErrors, send: (response: Response, error: AppError) => void): ErrorRequestHandler {
  return (thrown: unknown, _request, response, _next) => {
    const error = toAppError(thrown);
    const context = contextOf(response);
    context.errorKind = error.kind;
    const failure = serverErrors.count(error);
    if (failure !== undefined) context.failure = failure;
    if (response.headersSent) response.destroy();
    else send(response, error);
  };
}

const KIND_BY_STATUS: Partial<Record<number, ErrorKind>> = { 413: "payload_too_large", 415: "unsupported_media_type" };

/** Express and its middleware throw errors with a status. Their messages may quote the request and never reach a response. */
function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof NoRoomError) {
    const options = { retryAfterSeconds: 1, cause: thrown };
    return new AppError("rate_limited", "Too many requests wait already. Wait 1 s, then try again.", options);
  }
  const status = thrown instanceof Error && "status" in thrown && typeof thrown.status === "number" ? thrown.status : 500;
  if (status >= 500) return AppError.from(thrown);
  const message = "The request could not be read. Check its path, its headers and its body.";
  return new AppError(KIND_BY_STATUS[status] ?? "invalid_request", message, { cause: thrown });
}
