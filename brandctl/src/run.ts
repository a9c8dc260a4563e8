import { runCommandLine } from "@brand-records/command-line";
import { Interrupted, reportOf } from "./failure.ts";
import { programOf } from "./program.ts";
import { Session } from "./session.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Runs one command line, without the leading `node brandctl`. Results go to standard output, everything else to standard
 * error. Never ends the process.
 *
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage, 3 doctor could not check everything, 4 a deleted brand is still in the event log, 130 interrupted
 */
export function runBrandctl(args: readonly string[], terminal: Terminal, version = "unknown"): Promise<number> {
  let ids: ReadonlyMap<string, string> | undefined;
  return runCommandLine<Session>(programOf(version), {
    args,
    screens: terminal,
    async act(command, work) {
      const { json = false, ...options } = command.optsWithGlobals<{ json?: boolean }>();
      const session = new Session(terminal, json, options);
      ids = session.ids;
      try {
        return await work(session);
      } catch (error) {
        if (!terminal.interrupted.aborted || error instanceof Interrupted) throw error;
        throw new Interrupted("Interrupted before the service responded: the change may or may not have been made.");
      } finally {
        session.close();
      }
    },
    reportOf: (error) => reportOf(error, ids),
  });
}
