import { CommandLineError, printable, usageFailure } from "@brand-records/command-line";
import { exitCodeOf, reportOf, type FailureReport } from "./failure.ts";
import { buildProgram } from "./program.ts";
import { colorsFor, type Terminal } from "./terminal.ts";
import { Shell } from "./shell.ts";

/**
 * Runs one command line, without the leading `node brandctl`. Results go to standard output, everything else to standard
 * error. Never ends the process.
 *
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage, 3 doctor could not check everything, 4 a deleted brand is still in the event log, 130 interrupted
 */
export async function runBrandctl(args: readonly string[], terminal: Terminal, version = "unknown"): Promise<number> {
  const json = args.includes("--json");
  const shell = new Shell(terminal);
  const program = buildProgram(shell, { version, quiet: json });
  try {
    await program.parseAsync(args, { from: "user" });
    return shell.exitCode;
  } catch (error) {
    const failure = error instanceof CommandLineError ? usageFailure(error, json) : error;
    if (typeof failure === "number") return failure;
    printReport(reportOf(failure, shell.ids), json, terminal);
    return exitCodeOf(failure);
  }
}

function printReport(report: FailureReport, json: boolean, { stderr, env }: Terminal): void {
  if (json) {
    stderr.write(`${JSON.stringify({ error: report })}\n`);
    return;
  }
  const { red, yellow } = colorsFor(stderr, env);
  const text = report.code === "internal_error" ? report.message : report.message.split("\n").map(printable).join("\n");
  stderr.write(`${red("error:")} ${text}\n${report.hint === undefined ? "" : `${yellow(printable(report.hint))}\n`}`);
}
