import { InvalidArgumentError } from "commander";

/** For `--limit`. */
export function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("It has to be a whole number from 1 to 999999, such as 50.");
  return Number(text);
}
