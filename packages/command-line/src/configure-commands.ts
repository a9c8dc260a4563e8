import { colorsFor, type Screen } from "./terminal/colors.ts";
import type { Command } from "commander";
import { CommandLineError } from "./command-line-error.ts";
import type { CommandScreens } from "./command-output.ts";

const HELP_COLUMNS_DEFAULT = 120;
/** Narrower descriptions are not wrapped. In 80 columns, 34 are left beside brandctl's longest command. */
const DESCRIPTION_COLUMNS_MIN = 20;

/**
 * Configures every command of the tree: commander keeps these settings per command. Parsing throws CommandLineError from then on, and prints
 * no error.
 *
 * @param quiet leaves standard error to the caller
 */
export function configureCommands(command: Command, screens: CommandScreens, quiet: boolean): void {
  const { stdout, stderr, env } = screens;
  const { bold } = colorsFor(stdout, env);
  command
    .exitOverride((error) => {
      throw new CommandLineError(error, pathOf(command));
    })
    .helpCommand(false)
    .helpOption("-h, --help", "show this help")
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true, minWidthToWrap: DESCRIPTION_COLUMNS_MIN, styleTitle: (title) => bold(title) })
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void (quiet || stderr.write(text)),
      getOutHasColors: () => stdout.isTTY === true,
      getErrHasColors: () => stderr.isTTY === true,
      getOutHelpWidth: () => helpColumns(stdout, env),
      getErrHelpWidth: () => helpColumns(stderr, env),
      // The caller prints errors, as text or as JSON.
      outputError: () => undefined,
    });
  for (const child of command.commands) configureCommands(child, screens, quiet);
}

/** The width of a terminal, else COLUMNS, which man and other programs honour too. */
function helpColumns({ columns }: Screen, { COLUMNS = "" }: NodeJS.ProcessEnv): number {
  if (columns !== undefined) return columns;
  return /^[1-9]\d{1,3}$/.test(COLUMNS) ? Number(COLUMNS) : HELP_COLUMNS_DEFAULT;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
