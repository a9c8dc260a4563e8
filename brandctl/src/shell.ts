import { declareCommand, declareGroup } from "@brand-records/command-line";
import type { Command } from "commander";
import type { GlobalOptions } from "./connection/endpoints.ts";
import { Interrupted } from "./failure.ts";
import { Session } from "./session.ts";
import type { Terminal } from "./terminal.ts";

export const command = declareCommand<Session>();
export const group = declareGroup<Session>;

/** Gives each command its session and keeps its exit code. */
export class Shell {
  readonly terminal: Terminal;
  exitCode = 0;
  /** The ids that the command is about, by their placeholder in hints. */
  ids: ReadonlyMap<string, string> = new Map();

  constructor(terminal: Terminal) {
    this.terminal = terminal;
  }

  /** Runs a command and closes what it opened. */
  async act(command: Command, work: (session: Session) => Promise<number | void>): Promise<void> {
    const session = new Session(this.terminal, command.optsWithGlobals<GlobalOptions>());
    this.ids = session.ids;
    try {
      this.exitCode = (await work(session)) ?? 0;
    } catch (error) {
      if (!this.terminal.interrupted.aborted || error instanceof Interrupted) throw error;
      throw new Interrupted("Interrupted before the service responded: the change may or may not have been made.");
    } finally {
      session.close();
    }
  }
}
