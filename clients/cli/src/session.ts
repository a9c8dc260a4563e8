import { CommandOutput } from "@brand-records/command-line";
import { InputReader } from "./input/input-reader.ts";
import type { Terminal } from "./terminal.ts";

/** One run of one command: its input and output. */
export class Session extends CommandOutput<Terminal> {
  readonly input: InputReader;

  constructor(terminal: Terminal, json: boolean) {
    super(terminal, json);
    this.input = new InputReader(terminal.stdin);
  }
}
