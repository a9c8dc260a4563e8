import { errorBody } from "@brand-records/edge";
import { ERROR_KINDS, type AppError } from "@brand-records/errors";
import type { Response } from "express";
import { contextOf, type ErrorForm } from "./request-context.ts";
import { send } from "./responses.ts";

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

/** Responds with an error, in the form of its path. */
export function sendError(response: Response, error: AppError): void {
  const context = contextOf(response);
  if (error.field !== undefined) context.errorField = error.field;
  const { requestId, errorForm = apiForm } = context;
  const { status, body, type } = errorForm(error, requestId);
  response.set(errorHeaders(error));
  send(response, status, body, type);
}
