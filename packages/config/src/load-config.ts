import { ConfigError } from "./parse-env.ts";
import { refuseToStart } from "./refuse-to-start.ts";

/** Returns the parsed settings of a main module. Prints a ConfigError without a stack, for people, and exits with code 78. */
export function loadConfig<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    refuseToStart(error.message);
  }
}
