import { AppError, ERROR_KINDS, type ErrorKind } from "@brand-records/errors";
import type { ServerErrors } from "@brand-records/rpc";
import type { ErrorRequestHandler, Response } from "express";
import { contextOf, type ErrorForm } from "./request-context.ts";
import { send } from "./responses.ts";

/** An error as callers see it, on every interface. */
export function errorObject({ kind, message, field, details }: AppError, requestId: string): object {
  return { code: kind, message, ...(field !== undefined && { field }), ...(details !== undefined && { details }), request_id: requestId };
}

export function errorBody(error: AppError, requestId: string): string {
  return JSON.stringify({ error: errorObject(error, requestId) });
}

/** The form of errors, except where a protocol has its own. */
export const apiForm: ErrorForm = (error, requestId) => ({ status: ERROR_KINDS[error.kind].http, body: errorBody(error, requestId) });

/** The headers of an error response. */
export function errorHeaders(error: AppError): Record<string, string> {
  return {
    "Cache-Control": "private, no-store",
    ...(ERROR_KINDS[error.kind].http === 401 && { "WWW-Authenticate": 'Bearer realm="Brand Records API"' }),
    ...(error.retryAfterSeconds !== undefined && { "Retry-After": String(error.retryAfterSeconds) }),
  };
}

/** The last middleware: turns any thrown value into a response. The access log writes what failed. */
export function errorHandler(serverErrors: ServerErrors): ErrorRequestHandler {
  return (thrown: unknown, _request, response, _next) => {
    const error = fromHttp(thrown);
    const context = contextOf(response);
    context.errorKind = error.kind;
    const failure = serverErrors.count(error);
    if (failure !== undefined) context.failure = failure;
    if (response.headersSent) response.destroy();
    else sendError(response, error);
  };
}

function sendError(response: Response, error: AppError): void {
  const { requestId, errorForm = apiForm } = contextOf(response);
  const { status, body, type } = errorForm(error, requestId);
  response.set(errorHeaders(error));
  send(response, status, body, type);
}

const KIND_BY_STATUS: Partial<Record<number, ErrorKind>> = { 413: "payload_too_large", 415: "unsupported_media_type" };

/** Express and its middleware throw errors with a status. Their messages may quote the request and never reach a response. */
function fromHttp(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const status = thrown instanceof Error && "status" in thrown && typeof thrown.status === "number" ? thrown.status : 500;
  if (status >= 500) return AppError.from(thrown);
  return new AppError(
    KIND_BY_STATUS[status] ?? "invalid_request",
    "The request could not be read. Check its path, its headers and its body.",
    {
      cause: thrown,
    },
  );
}
