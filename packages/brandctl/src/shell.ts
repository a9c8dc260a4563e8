import type { Command } from "commander";
import type { GlobalOptions } from "./connection/endpoints.ts";
import { Interrupted } from "./failure.ts";
import { Session } from "./session.ts";
import type { Terminal } from "./terminal.ts";

/** Gives every command its session and takes its exit code. */
export class Shell {
  readonly terminal: Terminal;
  exitCode = 0;

  constructor(terminal: Terminal) {
    this.terminal = terminal;
  }

  /**
   * Runs a command's work, and closes what it opened.
   *
   * @param work answers an exit code when the work was done but its result is a failure, such as an import with bad lines
   */
  async act(command: Command, work: (session: Session) => Promise<number | void>): Promise<void> {
    const session = new Session(this.terminal, command.optsWithGlobals<GlobalOptions>());
    try {
      this.exitCode = (await work(session)) ?? 0;
    } catch (error) {
      if (!this.terminal.interrupted.aborted || error instanceof Interrupted) throw error;
      throw new Interrupted("Interrupted before an answer came: what was asked for may or may not have been done.");
    } finally {
      session.close();
    }
  }
}
