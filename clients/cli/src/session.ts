import type { Readable } from "node:stream";
import { CommandOutput, declareCommand, declareGroup, type Screen } from "@brand-records/command-line";
import { InputReader } from "./input/input-reader.ts";

/** One run of one command: its input and output. */
export class Session extends CommandOutput<Terminal> {
  readonly input: InputReader;
  readonly version: string;

  constructor(terminal: Terminal, json: boolean, version: string) {
    super(terminal, json);
    this.version = version;
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
