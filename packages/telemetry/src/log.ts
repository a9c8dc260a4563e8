import { pino, type Logger } from "pino";
import { serializeError } from "./serialize-error.ts";

export type { Logger } from "pino";

/** Credentials never reach a log: under these names, in a line or up to two levels within what it holds. */
const SECRET_NAMES = ["authorization", "secret", "key_sha256"];
const SECRET_PATHS = SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

const BUFFER_BYTES = 4 * 1024;
const FLUSH_EVERY_MS = 200;

/**
 * JSON lines on standard output; one wide line per unit of work. Written in batches, at most 200 ms late, so that a slow
 * reader of the log never holds up a request; whatever is left is written at the exit.
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

/** One for the process, however many logs it opens. */
function openOutput(): Output {
  if (output !== undefined) return output;
  const opened = pino.destination({ fd: 1, sync: false, minLength: BUFFER_BYTES });
  setInterval(() => opened.flush(), FLUSH_EVERY_MS).unref();
  process.on("exit", () => opened.flushSync());
  output = opened;
  return opened;
}
