import type { Readable } from "node:stream";
import { CommandOutput, declareCommand, declareGroup, type Screen } from "@brand-records/command-line";
import type { Command } from "commander";
import { InputReader } from "./input/input-reader.ts";

/** One run of one command: its input and output. */
export class Session extends CommandOutput<Terminal> {
  readonly input: InputReader;

  constructor(terminal: Terminal, json: boolean) {
    super(terminal, json);
    this.input = new InputReader(terminal.stdin);
  }
}

/** What a command may use of its process: streams, environment and Ctrl-C. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Screen;
  readonly stderr: Screen;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly interrupted: AbortSignal;
}

/** Declares a command of this program. */
export const command = declareCommand<Session>();
export const group = declareGroup<Session>;

/** Gives each command its session and keeps its exit code. */
export class Shell {
  readonly terminal: Terminal;
  exitCode = 0;

  constructor(terminal: Terminal) {
    this.terminal = terminal;
  }

  async act(command: Command, work: (session: Session) => Promise<number | void>): Promise<void> {
    const { json } = command.optsWithGlobals<{ json?: boolean }>();
    this.exitCode = (await work(new Session(this.terminal, json === true))) ?? 0;
  }
}
