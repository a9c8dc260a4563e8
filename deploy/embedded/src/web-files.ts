import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./local-files.ts";
import { LaunchError } from "./requirements.ts";

/**
 * Builds the console's files for browsers, unless those of the present sources exist.
 *
 * @param ended ends the build, which removes what is incomplete
 * @param killed ends it immediately
 * @throws LaunchError with the compiler's output, once the build's process has exited
 */
export async function buildWebFiles(ended: AbortSignal, killed: AbortSignal): Promise<void> {
  const building = promisify(execFile)(process.execPath, [join(ROOT, "console/web/build.js")]);
  const endWith = (signal: NodeJS.Signals) => (): void => void building.child.kill(signal);
  ended.addEventListener("abort", endWith("SIGTERM"), { once: true });
  killed.addEventListener("abort", endWith("SIGKILL"), { once: true });
  try {
    await building;
  } catch (error) {
    const { stderr = "" } = error as { readonly stderr?: string };
    throw new LaunchError(`The console could not be built.\n${stderr}`, { cause: error });
  }
}
