import { stdSerializers } from "pino";

/**
 * What a log shows of an error: type, message, stack (the last two with those of its causes) and code. Nothing else: libraries
 * attach what they were working on, which may be a password (ioredis: the arguments of AUTH) or personal data (pg: the row).
 * An error of ours that has more to tell the log has it in `logFields`.
 */
export function serializeError(error: unknown): unknown {
  if (!isErrorLike(error)) return error;
  const { type, message, stack, aggregateErrors } = stdSerializers.err(error);
  return {
    type,
    message,
    stack,
    ...(typeof error.logFields === "object" && error.logFields),
    ...((typeof error.code === "string" || typeof error.code === "number") && { code: error.code }),
    ...(Array.isArray(aggregateErrors) && { errors: aggregateErrors.map((one: { message?: unknown }) => one.message) }),
  };
}

/** The same test as pino's. */
function isErrorLike(value: unknown): value is Error & { code?: unknown; logFields?: unknown } {
  return typeof value === "object" && value !== null && "message" in value && typeof value.message === "string";
}
