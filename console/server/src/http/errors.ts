import { AppError, ERROR_KINDS } from "@brand-records/errors";
import type { ErrorBody } from "@brand-records/console-contract";
import { NoRoomError } from "@brand-records/lifecycle";
import type { ServerErrors } from "@brand-records/rpc";
import type { ErrorRequestHandler } from "express";
import { contextOf } from "./request-context.ts";

/** The last middleware: turns any thrown value into a response, always JSON. The access log writes what failed. */
export function errorHandler(serverErrors: ServerErrors): ErrorRequestHandler {
  return (thrown: unknown, _request, response, _next) => {
    const error = fromHttp(thrown);
    const context = contextOf(response);
    context.errorKind = error.kind;
    const failure = serverErrors.count(error);
    if (failure !== undefined) context.failure = failure;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (error.retryAfterSeconds !== undefined) response.setHeader("Retry-After", error.retryAfterSeconds);
    response.setHeader("Cache-Control", "no-store");
    response.status(ERROR_KINDS[error.kind].http).json(errorBody(error, context.requestId));
  };
}

function errorBody({ kind, message, field, details }: AppError, requestId: string): ErrorBody {
  return {
    error: { code: kind, message, ...(field !== undefined && { field }), ...(details !== undefined && { details }), request_id: requestId },
  };
}

/** Errors of Express have a status. Their messages may quote the request and never reach a response. */
function fromHttp(thrown: unknown): AppError {
  if (thrown instanceof NoRoomError) {
    return new AppError("rate_limited", "Too many requests wait already. Wait 1 s, then try again.", {
      retryAfterSeconds: 1,
      cause: thrown,
    });
  }
  if (thrown instanceof AppError || !(thrown instanceof Error)) return AppError.from(thrown);
  const { status = 500 } = thrown as Error & { readonly status?: number };
  if (status < 500) return new AppError("invalid_request", "The request could not be read.", { cause: thrown });
  return AppError.from(thrown);
}
