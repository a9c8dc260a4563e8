import type { CommanderError } from "commander";
import { UsageFailure } from "./command-failure.ts";

/** Thrown where commander would end the process: after help, and for a wrong command line. */
export class CommandLineError extends Error {
  override readonly name = "CommandLineError";
  readonly reason: CommanderError;
  /** The command whose help applies, such as `brandctl brands create`. */
  readonly command: string;

  constructor(reason: CommanderError, command: string) {
    super(reason.message.replace(/^error: /, ""), { cause: reason });
    this.reason = reason;
    this.command = command;
  }
}

/**
 * Returns what is wrong with a command line, or an exit code if help or the version was shown.
 *
 * @param json help without a command is not shown then, and the missing command is a problem
 */
export function usageFailure({ reason, message, command }: CommandLineError, json: boolean): UsageFailure | number {
  if (reason.code === "commander.helpDisplayed" || reason.code === "commander.version") return 0;
  // RFC 5322 lets an address begin with a hyphen.
  const [, address] = /^unknown option '(-[^']*@[^']*)'/.exec(message) ?? [];
  const hint =
    address === undefined ? `See ${command} --help` : `An address that begins with - comes last, after --: ${command} … -- ${address}`;
  if (reason.code !== "commander.help") return new UsageFailure(message, hint);
  return json ? new UsageFailure("A command is missing", hint) : 2;
}
