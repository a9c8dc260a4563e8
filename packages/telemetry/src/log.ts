import { pino, type Logger } from "pino";
import { LogOutput } from "./log-output.ts";
import { serializeError } from "./serialize-error.ts";

export type { Logger } from "pino";

/** Credentials never reach a log: fields with these names are redacted in a line and up to two levels deeper. */
const SECRET_NAMES = ["authorization", "cookie", "secret", "token", "key_sha256"];
const SECRET_PATHS = SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

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
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
      redact: { paths: SECRET_PATHS, censor: "[redacted]" },
    },
    output,
  );
  output.report = (fields, message) => log.warn(fields, message);
  return log;
}

/** Shared by all logs of the process. */
let output: LogOutput | undefined;
