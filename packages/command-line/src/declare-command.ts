import { Command, type Argument, Option } from "commander";

/** An option of a command, and the type of its value. */
export interface Declared<Value> {
  readonly option: Option;
  /** In types only. */
  readonly value?: Value;
}

type Options = Readonly<Record<string, Declared<unknown>>>;
/** What `run` gets of declared options. */
export type Values<Given extends Options> = { readonly [Name in keyof Given]: Given[Name] extends Declared<infer Value> ? Value : never };

/** What to type, and what it does. */
export type Example = readonly [command: string, what: string];

export interface CommandDeclaration<Session, Given extends Options, Arguments extends unknown[]> {
  /** The description in the list of commands. */
  readonly summary: string;
  readonly description: string;
  readonly arguments?: readonly Argument[];
  readonly options?: Given;
  /** Text below the options. */
  readonly help?: string | undefined;
  readonly examples?: readonly Example[];
  /** Returns an exit code where the work is done but its result is a failure, such as an import with bad lines. */
  readonly run: (session: Session, options: Values<Given>, ...given: Arguments) => Promise<number | void>;
}

/** Does the work of a command in a session. */
export type Act<Session> = (command: Command, work: (session: Session) => Promise<number | void>) => Promise<void>;

export type MakeCommand<Session> = (act: Act<Session>) => Command;

/** Makes a command of what is declared. Absent options are undefined. */
export const declareCommand =
  <Session>() =>
  <const Given extends Options, Arguments extends unknown[] = []>(
    name: string,
    declaration: CommandDeclaration<Session, Given, Arguments>,
  ): MakeCommand<Session> =>
  (act) => {
    const { summary, description, arguments: given = [], help, examples, run } = declaration;
    const options: Options = declaration.options ?? {};
    const command = new Command(name).summary(summary).description(description);
    for (const argument of given) command.addArgument(argument);
    for (const { option } of Object.values(options)) command.addOption(option);
    if (help !== undefined) command.addHelpText("after", help);
    if (examples !== undefined) command.addHelpText("after", examplesText(examples));
    return command.action(() => {
      const parsed = command.opts<Record<string, unknown>>();
      const values = Object.entries(options).map(([key, { option }]) => [key, parsed[option.attributeName()]]);
      return act(command, (session) => run(session, Object.fromEntries(values) as Values<Given>, ...(command.processedArgs as Arguments)));
    });
  };

/** Makes a command of commands. @param summary the description in the list of commands. Default: the description */
export const declareGroup =
  <Session>(name: string, description: string, commands: readonly MakeCommand<Session>[], summary = description): MakeCommand<Session> =>
  (act) => {
    const group = new Command(name).summary(summary).description(description);
    for (const make of commands) group.addCommand(make(act));
    return group;
  };

/** An option that is commander's, with the type of its value. */
export const declared = <Value>(option: Option): Declared<Value> => ({ option });

/** An option without a value. */
export const flag = (flags: string, help: string): Declared<boolean | undefined> => ({ option: new Option(flags, help) });

/** An option with a value. @param parse throws for a wrong one. Default: the text as it is */
export function option(flags: string, help: string): Declared<string | undefined>;
export function option<Value>(flags: string, help: string, parse: (text: string) => Value): Declared<Value | undefined>;
export function option(flags: string, help: string, parse?: (text: string) => unknown): Declared<unknown> {
  const made = new Option(flags, help);
  return { option: parse === undefined ? made : made.argParser(parse) };
}

/** An option that takes one of these words. */
export const choice = (flags: string, help: string, words: readonly string[]): Declared<string | undefined> => ({
  option: new Option(flags, help).choices(words),
});

export function mandatory<Value>({ option }: Declared<Value>): Declared<Exclude<Value, undefined>> {
  return { option: option.makeOptionMandatory() };
}

export function withDefault<Value>({ option }: Declared<Value>, value: Exclude<Value, undefined>): Declared<Exclude<Value, undefined>> {
  return { option: option.default(value) };
}

const examplesText = (examples: readonly Example[]): string =>
  `\nExamples:\n${examples.map(([command, what]) => `  # ${what}\n  ${brokenCommand(command)}`).join("\n\n")}\n`;

/** Columns of an example without its indent of two and the ` \\` at the end of a line. */
const EXAMPLE_COLUMNS = 76;

/** Breaks a command before options and pipes with ` \\`, as a shell reads it, so that examples fit into 80 columns. */
function brokenCommand(command: string): string {
  const words = command.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  const lines: string[] = [""];
  // An option stays with its value, a pipe with its command: a part begins at each of the two.
  const isStart = (word: string): boolean => word.startsWith("--") || word === "|";
  for (const [at, word] of words.entries()) {
    const line = lines.at(-1) ?? "";
    const end = words.findIndex((later, index) => index > at && isStart(later));
    const part = words.slice(at, end === -1 ? undefined : end).join(" ");
    if (line !== "" && isStart(word) && line.length + 1 + part.length > EXAMPLE_COLUMNS) lines.push(`  ${word}`);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.join(" \\\n  ");
}
