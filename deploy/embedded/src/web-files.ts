import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./local-files.ts";
import { LaunchError } from "./requirements.ts";

/**
 * Builds the console's files for browsers, unless those of the present sources exist.
 *
 * @throws LaunchError with the compiler's output
 */
export async function buildWebFiles(): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [join(ROOT, "console/web/build.js")]);
  } catch (error) {
    const { stderr = "" } = error as { readonly stderr?: string };
    throw new LaunchError(`The console could not be built.\n${stderr}`, { cause: error });
  }
}
