import { colorsFor, type Colors, type Screen } from "./terminal/colors.ts";
import type { ProgressBar } from "./terminal/progress-bar.ts";
import { factsText, table, type Column, type Fact } from "./terminal/table.ts";

/** The screens of a command, and the environment that says how they look. */
export interface CommandScreens {
  readonly stdout: Screen;
  readonly stderr: Screen;
  readonly env: NodeJS.ProcessEnv;
}

/** What one run of one command prints. */
export class CommandOutput<Terminal extends CommandScreens> {
  readonly terminal: Terminal;
  readonly json: boolean;
  /** Set while `openProgressBar` shows one. */
  bar: ProgressBar | undefined;

  constructor(terminal: Terminal, json: boolean) {
    this.terminal = terminal;
    this.json = json;
  }

  /** Writes the result to standard output: one JSON document with `--json`, else the text. */
  print(document: object, text: (colors: Colors) => string): void {
    const { stdout } = this.terminal;
    if (this.json) stdout.write(`${JSON.stringify(document, null, stdout.isTTY === true ? 2 : undefined)}\n`);
    else stdout.write(`${text(this.colorsFor(stdout))}\n`);
  }

  printFacts(document: object, facts: readonly Fact[]): void {
    this.print(document, (colors) => factsText(facts, colors));
  }

  /** Prints a table, which only a terminal gets cut: what reads it from a pipe or a file needs every cell. @param empty the text without rows */
  printTable<Row>(document: object, columns: readonly Column<Row>[], rows: readonly Row[], empty = ""): void {
    const columnsMax = this.terminal.stdout.isTTY === true ? undefined : Infinity;
    this.print(document, (colors) => table(columns, rows, colors, empty, undefined, columnsMax));
  }

  /** Writes a remark for people to standard error; nothing with `--json`. */
  note(text: (colors: Colors) => string): void {
    if (this.json) return;
    const { stderr } = this.terminal;
    const writeLine = (): void => void stderr.write(`${text(this.colorsFor(stderr))}\n`);
    if (this.bar === undefined) writeLine();
    else this.bar.below(writeLine);
  }

  colorsFor(screen: Screen): Colors {
    return colorsFor(screen, this.terminal.env);
  }
}
