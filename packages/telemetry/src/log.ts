import { pino, type Logger } from "pino";

export type { Logger } from "pino";

/** Credentials never reach a log, wherever in a line they might turn up. */
const SECRET_PATHS = ["authorization", "*.authorization", "headers.authorization", "secret", "*.secret", "key_sha256", "*.key_sha256"];

/** JSON lines on standard output; one wide line per unit of work. */
export function openLog(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: SECRET_PATHS, censor: "[redacted]" },
  });
}
