import { type Logger, pino, stdSerializers } from "pino";
import { LogOutput } from "./log-output.ts";
import { errorWithoutSecrets, withoutSecrets } from "./without-secrets.ts";

export type { Logger } from "pino";

/**
 * Opens a log that writes JSON lines to standard output, one wide line per unit of work. Writes in batches, at most 200 ms late, so that
 * a slow reader of the log never delays a request. Writes the remaining lines at the exit.
 *
 * @param file the file that standard output appends to, if this process is to rotate it
 */
export function openLog(service: string, level: string, file?: string): Logger {
  output ??= new LogOutput(file);
  const log = pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: withoutSecrets },
      serializers: { err: (error: unknown) => errorWithoutSecrets(serializeError(error)) },
    },
    output,
  );
  // pino gives the fields of children to no formatter but their own. Children of children inherit this.
  const { child } = log;
  log.child = function (this: Logger, fields, ...options) {
    return child.call(this, withoutSecrets(fields), ...options) as never;
  };
  output.report = (fields, message) => log.warn(fields, message);
  return log;
}

/** Shared by all logs of the process. */
let output: LogOutput | undefined;

/**
 * Returns what a log shows of an error: type, message, stack (the last two include the causes) and code. Nothing else: libraries attach
 * their data, which may be a password (ioredis: the arguments of AUTH) or personal data (pg: the row). Our own errors add fields for
 * the log as `logFields`.
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

const EVERY_MS = 10_000;

export interface WarningLog {
  warn(fields: object, message: string): void;
}

/** Logs a warning that every request may cause at most every ten seconds, with the number of those suppressed. */
export class RepeatedWarning {
  readonly #log: WarningLog;
  readonly #message: string;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #suppressed = 0;

  constructor(log: WarningLog, message: string) {
    this.#log = log;
    this.#message = message;
  }

  write(fields: object): void {
    const now = performance.now();
    if (now - this.#writtenAt < EVERY_MS) {
      this.#suppressed += 1;
      return;
    }
    this.#log.warn({ ...fields, suppressed: this.#suppressed }, this.#message);
    this.#writtenAt = now;
    this.#suppressed = 0;
  }
}
