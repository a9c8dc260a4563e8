import { colorsFor, CommandLineError, exitCodeOf, Interrupted, printable, usageFailure } from "@brand-records/command-line";
import { reportOf, type FailureReport } from "./failure.ts";
import { buildProgram } from "./program.ts";
import { Shell, type Terminal } from "./session.ts";

/**
 * Runs one command line, without the leading `node brand-records`. Results go to standard output, everything else to standard
 * error. Never ends the process.
 *
 * @returns the exit code: 0 done, 1 failed or a rule is broken, 2 wrong usage, 130 interrupted
 */
export async function runCli(args: readonly string[], terminal: Terminal, version: string): Promise<number> {
  const json = args.includes("--json");
  const shell = new Shell(terminal);
  const program = buildProgram(shell, { version, quiet: json });
  try {
    await program.parseAsync(args, { from: "user" });
    return shell.exitCode;
  } catch (error) {
    const failure = error instanceof CommandLineError ? usageFailure(error, json) : interruption(error, terminal);
    if (typeof failure === "number") return failure;
    printReport(reportOf(failure), json, terminal);
    return exitCodeOf(failure);
  }
}

/** Ctrl-C cancels requests, which then fail with its reason. */
function interruption(error: unknown, { interrupted }: Terminal): unknown {
  return interrupted.aborted && !(error instanceof Interrupted) ? new Interrupted("Interrupted.") : error;
}

function printReport(report: FailureReport, json: boolean, { stderr, env }: Terminal): void {
  if (json) {
    stderr.write(`${JSON.stringify({ error: report })}\n`);
    return;
  }
  const { red, yellow } = colorsFor(stderr, env);
  const shown = (text: string): string => text.split("\n").map(printable).join("\n");
  const details = (report.details ?? []).map(({ field, message }) => `  ${printable(field)}: ${printable(message)}\n`).join("");
  const request = report.request_id === undefined ? "" : ` (${printable(report.code)}, request ${printable(report.request_id)})`;
  const hint = report.hint === undefined ? "" : `${yellow(shown(report.hint))}\n`;
  stderr.write(`${red("error:")} ${shown(report.message)}${request}\n${details}${hint}`);
}
