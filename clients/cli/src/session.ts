import { colorsFor, type Colors, type Screen } from "@brand-records/terminal-output";
import { InputReader } from "./input/input-reader.ts";
import type { Terminal } from "./terminal.ts";

/** One run of one command: its input and output. */
export class Session {
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly input: InputReader;

  constructor(terminal: Terminal, json: boolean) {
    this.terminal = terminal;
    this.json = json;
    this.input = new InputReader(terminal.stdin);
  }

  /** Writes the result to standard output: one JSON document with `--json`, else the text. */
  print(document: object, text: (colors: Colors) => string): void {
    const { stdout } = this.terminal;
    if (this.json) stdout.write(`${JSON.stringify(document, null, stdout.isTTY === true ? 2 : undefined)}\n`);
    else stdout.write(`${text(this.colorsFor(stdout))}\n`);
  }

  /** Writes a remark for people to standard error; nothing with `--json`. */
  note(text: (colors: Colors) => string): void {
    if (!this.json) this.terminal.stderr.write(`${text(this.colorsFor(this.terminal.stderr))}\n`);
  }

  colorsFor(screen: Screen): Colors {
    return colorsFor(screen, this.terminal.env);
  }
}
