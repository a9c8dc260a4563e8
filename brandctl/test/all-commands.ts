import type { Command } from "commander";
import { buildProgram } from "../src/program.ts";
import { Shell } from "../src/shell.ts";

interface NamedCommand {
  /** The words after the program's name: "" for the program itself, "brands create". */
  readonly path: string;
  readonly command: Command;
}

/** Returns the program and every command below. */
export function allCommands(): NamedCommand[] {
  const shell = new Shell({ ...process, cwd: "/", interrupted: new AbortController().signal });
  return withThoseBelow("", buildProgram(shell, { version: "1", quiet: true }));
}

function withThoseBelow(path: string, command: Command): NamedCommand[] {
  return [{ path, command }, ...command.commands.flatMap((child) => withThoseBelow(`${path} ${child.name()}`.trim(), child))];
}
