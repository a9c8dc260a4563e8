import { InvalidArgumentError } from "commander";

/** For `--limit`. */
export function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1 to 999999, such as 50.");
  return Number(text);
}

/** For `--max-in-flight`. */
export function parseInFlight(text: string): number {
  const count = Number(text);
  if (!/^[1-9]\d?$/.test(text) || count > 64) throw new InvalidArgumentError("It must be a whole number from 1 to 64.");
  return count;
}

/** For `--port`; 0 is any that is free. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError("It must be a port number, such as 8787.");
  return port;
}
