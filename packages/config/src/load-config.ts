import { ConfigError } from "./parse-env.ts";

/** sysexits.h: the settings are wrong, starting again will not help. */
const EX_CONFIG = 78;

/** For main modules: a person reads what is wrong with the settings, not where in our code it was noticed. */
export function loadConfig<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EX_CONFIG);
  }
}
