import { pino, type Logger } from "pino";
import { LogOutput } from "./log-output.ts";
import { serializeError } from "./serialize-error.ts";
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
