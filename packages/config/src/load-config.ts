import { ConfigError } from "./parse-env.ts";

/** sysexits.h: the settings are wrong, so a restart does not help. */
const EX_CONFIG = 78;

/** Returns the parsed settings of a main module. Prints a ConfigError without a stack, for people, and exits with code 78. */
export function loadConfig<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EX_CONFIG);
  }
}
