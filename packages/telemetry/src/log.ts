import { pino, type Logger } from "pino";
import { serializeError } from "./serialize-error.ts";

export type { Logger } from "pino";

/** Credentials never reach a log: fields with these names are redacted in a line and up to two levels deeper. */
const SECRET_NAMES = ["authorization", "cookie", "secret", "token", "key_sha256"];
const SECRET_PATHS = SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

const BUFFER_BYTES = 4 * 1024;
const FLUSH_EVERY_MS = 200;

/**
 * Opens a log that writes JSON lines to standard output, one wide line per unit of work. Writes in batches, at most 200 ms late, so that
 * a slow reader of the log never delays a request. Writes the remaining lines at the exit.
 */
export function openLog(service: string, level: string): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
      redact: { paths: SECRET_PATHS, censor: "[redacted]" },
    },
    openOutput(),
  );
}

type Output = ReturnType<typeof pino.destination>;

let output: Output | undefined;

/** Shared by all logs of the process. */
function openOutput(): Output {
  if (output !== undefined) return output;
  const opened = pino.destination({ fd: 1, sync: false, minLength: BUFFER_BYTES });
  setInterval(() => opened.flush(), FLUSH_EVERY_MS).unref();
  process.on("exit", () => opened.flushSync());
  output = opened;
  return opened;
}
