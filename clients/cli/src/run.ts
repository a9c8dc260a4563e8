import { Interrupted, runCommandLine } from "@brand-records/command-line";
import { reportOf } from "./failure.ts";
import { programOf } from "./program.ts";
import { Session, type Terminal } from "./session.ts";

/**
 * Runs one command line, without the leading `node brand-records`. Results go to standard output, everything else to standard
 * error. Never ends the process.
 *
 * @returns the exit code: 0 done, 1 failed or a rule is broken, 2 wrong usage, 3 not all rules checked, 130 interrupted
 */
export function runCli(args: readonly string[], terminal: Terminal, version: string): Promise<number> {
  return runCommandLine<Session>(programOf(version), {
    args,
    screens: terminal,
    async act(command, work) {
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      try {
        return await work(new Session(terminal, json === true, version));
      } catch (error) {
        // Ctrl-C cancels requests, which then fail with its reason.
        throw terminal.interrupted.aborted && !(error instanceof Interrupted) ? new Interrupted("Interrupted.") : error;
      }
    },
    reportOf,
  });
}
