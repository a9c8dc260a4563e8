import { colorsFor, type Screen } from "@brand-records/terminal-output";
import { Command, type CommanderError } from "commander";
import { completionCommand } from "./commands/completion.ts";
import { eventsCommand } from "./commands/events.ts";
import { exportCommand } from "./commands/export.ts";
import { listCommand } from "./commands/list.ts";
import { plansCommand } from "./commands/plans.ts";
import { receiversCommand } from "./commands/receivers.ts";
import { whoamiCommand } from "./commands/whoami.ts";
import type { Shell } from "./shell.ts";

const HELP_COLUMNS_DEFAULT = 120;
/** Narrower descriptions are not wrapped. */
const DESCRIPTION_COLUMNS_MIN = 20;

const DESCRIPTION =
  "One brand's records: lists, exports, campaign plans and signed events. It needs nothing but an API key, and to test a receiver only its signing secret.";

const HELP = `
Environment:
  BRAND_RECORDS_URL        address of the service, such as https://records.example
  BRAND_RECORDS_KEY        the brand's API key, brk_…; never an argument, which
                           every user of the machine can read
  NO_COLOR                 no colours, on a terminal either

Exit codes:
    0  done; every rule that was checked is kept
    1  failed, or refused; a delivery is not verified; a receiver refused an
       event or breaks a rule
    2  wrong usage: arguments, options, files or environment; nothing was sent
  130  interrupted; an export continues when it is run again

Examples:
  # whose key is this, and what may it do?
  brand-records whoami

  # the newest approved submissions, and every conversion of October
  brand-records list submissions --status approved
  brand-records export conversions --created-from 2026-10-01T00:00:00+08:00 \\
    --created-before 2026-11-01T00:00:00+08:00 --format csv --out october.csv

  # an event to a receiver on this machine, then all rules
  brand-records events send payout.paid --to http://localhost:3000/hooks \\
    --secret-file secret
  brand-records receivers prove --to http://localhost:3000/hooks \\
    --secret-file secret
`;

/** Thrown where commander would end the process: after help, and for a wrong command line. */
export class CommandLineError extends Error {
  override readonly name = "CommandLineError";
  readonly reason: CommanderError;
  /** The command whose help applies, such as `brand-records events send`. */
  readonly command: string;

  constructor(reason: CommanderError, command: string) {
    super(reason.message.replace(/^error: /, ""), { cause: reason });
    this.reason = reason;
    this.command = command;
  }
}

export interface ProgramOptions {
  readonly version: string;
  /** Leave standard error to the caller. */
  readonly quiet: boolean;
}

/** Builds the command tree. Parsing throws CommandLineError. */
export function buildProgram(shell: Shell, { version, quiet }: ProgramOptions): Command {
  const program = new Command("brand-records")
    .description(DESCRIPTION)
    .version(version, "-V, --version", "show the version")
    .option("--json", 'one JSON document on standard output; errors as {"error": …} on standard error')
    .addHelpText("after", HELP);
  program.addCommand(whoamiCommand(shell));
  program.addCommand(listCommand(shell));
  program.addCommand(exportCommand(shell));
  program.addCommand(plansCommand(shell));
  program.addCommand(eventsCommand(shell));
  program.addCommand(receiversCommand(shell));
  program.addCommand(completionCommand(shell, program));
  configure(program, shell, quiet);
  return program;
}

/** Configures every command of the tree: commander keeps these settings per command. */
function configure(command: Command, shell: Shell, quiet: boolean): void {
  const { stdout, stderr, env } = shell.terminal;
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
      getOutHelpWidth: () => helpColumns(stdout),
      getErrHelpWidth: () => helpColumns(stderr),
      // The caller prints errors, as text or as JSON.
      outputError: () => undefined,
    });
  for (const child of command.commands) configure(child, shell, quiet);
}

const helpColumns = ({ columns }: Screen): number => columns ?? HELP_COLUMNS_DEFAULT;

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
