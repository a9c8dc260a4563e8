import { Command } from "commander";
import { exitCodeOf } from "./command-failure.ts";
import { CommandLineError, usageFailure } from "./command-line-error.ts";
import type { CommandScreens } from "./command-output.ts";
import { configureCommands } from "./configure-commands.ts";
import type { Act, MakeCommand } from "./declare-command.ts";
import { colorsFor } from "./terminal/colors.ts";
import { printable } from "./terminal/printable.ts";

/** An error as it is printed: `{"error": …}` with `--json`, else as text. */
export interface FailureReport {
  readonly code: string;
  /** The service's page about the code. */
  readonly docs_url?: string;
  readonly message: string;
  readonly field?: string;
  readonly details?: readonly { readonly field: string; readonly message: string }[];
  /** Identifies the request to the service's people. */
  readonly request_id?: string;
  readonly hint?: string;
}

export interface ProgramDeclaration<Session> {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** Options of every command beside `--json`. */
  readonly options?: readonly (readonly [flags: string, help: string])[];
  readonly help: string;
  readonly commands: readonly MakeCommand<Session>[];
}

/** Builds the command tree. Parsing throws CommandLineError. @param quiet leaves standard error to the caller */
export function buildProgram<Session>(
  declaration: ProgramDeclaration<Session>,
  act: Act<Session>,
  screens: CommandScreens,
  quiet: boolean,
) {
  const { name, version, description, options = [], help, commands } = declaration;
  const program = new Command(name)
    .description(description)
    .version(version, "-V, --version", "show the version")
    .option("--json", 'one JSON document on standard output; errors as {"error": …} on standard error');
  for (const [flags, text] of options) program.option(flags, text);
  program.addHelpText("after", help);
  for (const make of commands) program.addCommand(make(act));
  configureCommands(program, screens, quiet);
  return program;
}

interface CommandLine<Session> {
  /** Without the leading name of the program. */
  readonly args: readonly string[];
  readonly screens: CommandScreens;
  /** Gives a command its session. */
  readonly act: (command: Command, work: (session: Session) => Promise<number | void>) => Promise<number | void>;
  readonly reportOf: (error: unknown) => FailureReport;
}

/**
 * Runs one command line. Results go to standard output, everything else to standard error. Never ends the process.
 *
 * @returns the exit code: that of the command, else 0, 1 for a failure, 2 for wrong usage, 130 if it was interrupted
 */
export async function runCommandLine<Session>(
  declaration: ProgramDeclaration<Session>,
  { args, screens, act, reportOf }: CommandLine<Session>,
): Promise<number> {
  const json = args.includes("--json");
  let exitCode = 0;
  const program = buildProgram<Session>(
    declaration,
    async (command, work) => {
      exitCode = (await act(command, work)) ?? 0;
    },
    screens,
    json,
  );
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    const failure = error instanceof CommandLineError ? usageFailure(error, json) : error;
    if (typeof failure === "number") return failure;
    const report = reportOf(failure);
    screens.stderr.write(json ? `${JSON.stringify({ error: report })}\n` : reportText(report, screens));
    return exitCodeOf(failure);
  }
}

function reportText({ code, docs_url, message, details = [], request_id, hint }: FailureReport, { stderr, env }: CommandScreens): string {
  const { red, yellow } = colorsFor(stderr, env);
  const shown = (text: string): string => text.split("\n").map(printable).join("\n");
  const request = request_id === undefined ? "" : ` (${printable(code)}, request ${printable(request_id)})`;
  // Without a request, the message names what is wrong.
  const wrong = request_id === undefined ? [] : details.map(({ field, message }) => `  ${printable(field)}: ${printable(message)}\n`);
  const more = docs_url === undefined ? "" : `${printable(docs_url)}\n`;
  return `${red("error:")} ${shown(message)}${request}\n${wrong.join("")}${hint === undefined ? "" : `${yellow(shown(hint))}\n`}${more}`;
}
