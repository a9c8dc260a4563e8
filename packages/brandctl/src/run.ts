import { exitCodeOf, reportOf, UsageFailure, type FailureReport } from "./failure.ts";
import { printable } from "./output/printable.ts";
import { buildProgram, CommandLineError } from "./program.ts";
import { colorsFor } from "./session.ts";
import { Shell } from "./shell.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Runs one command line, without the leading `node brandctl`. Writes results to standard output, everything else to
 * standard error, and never ends the process.
 *
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted
 */
export async function runBrandctl(args: readonly string[], terminal: Terminal, version = "unknown"): Promise<number> {
  const shell = new Shell(terminal);
  const program = buildProgram(shell, version);
  try {
    await program.parseAsync(args, { from: "user" });
    return shell.exitCode;
  } catch (error) {
    if (error instanceof CommandLineError && SHOWN[error.reason.code] !== undefined) return SHOWN[error.reason.code] ?? 0;
    const failure = error instanceof CommandLineError ? new UsageFailure(error.message, `See ${error.command} --help`) : error;
    tell(reportOf(failure), args, terminal);
    return exitCodeOf(failure);
  }
}

/** Exit codes: help or version was asked for, or help is shown because a command was missing. */
const SHOWN: Readonly<Record<string, number>> = { "commander.helpDisplayed": 0, "commander.version": 0, "commander.help": 2 };

function tell(report: FailureReport, args: readonly string[], { stderr, env }: Terminal): void {
  if (args.includes("--json")) {
    stderr.write(`${JSON.stringify({ error: report })}\n`);
    return;
  }
  const { red, yellow } = colorsFor(stderr, env);
  const text = report.code === "internal_error" ? report.message : report.message.split("\n").map(printable).join("\n");
  stderr.write(`${red("error:")} ${text}\n${report.hint === undefined ? "" : `${yellow(printable(report.hint))}\n`}`);
}
