import type { Command } from "commander";
import { Session } from "./session.ts";
import type { Terminal } from "./terminal.ts";

/** Gives each command its session and keeps its exit code. */
export class Shell {
  readonly terminal: Terminal;
  exitCode = 0;

  constructor(terminal: Terminal) {
    this.terminal = terminal;
  }

  /** @param work returns an exit code where the work is done but its result is a failure, such as a receiver that breaks a rule */
  async act(command: Command, work: (session: Session) => Promise<number | void>): Promise<void> {
    const { json } = command.optsWithGlobals<{ json?: boolean }>();
    this.exitCode = (await work(new Session(this.terminal, json === true))) ?? 0;
  }
}
