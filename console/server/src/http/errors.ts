import type { ErrorBody } from "@brand-records/console-contract";
import { errorObject } from "@brand-records/edge";
import { ERROR_KINDS, type AppError } from "@brand-records/errors";
import type { Response } from "express";
import { contextOf } from "./request-context.ts";

/** Responds with an error, always as JSON. */
export function sendError(response: Response, error: AppError): void {
  if (error.retryAfterSeconds !== undefined) response.setHeader("Retry-After", error.retryAfterSeconds);
  response.setHeader("Cache-Control", "no-store");
  const body: ErrorBody = { error: errorObject(error, contextOf(response).requestId) };
  response.status(ERROR_KINDS[error.kind].http).json(body);
}
