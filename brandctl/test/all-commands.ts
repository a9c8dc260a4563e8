import type { Command } from "commander";
import { buildProgram } from "@brand-records/command-line";
import { programOf } from "../src/program.ts";

interface NamedCommand {
  /** The words after the program's name: "" for the program itself, "brands create". */
  readonly path: string;
  readonly command: Command;
}

/** Returns the program and every command below. */
export function allCommands(): NamedCommand[] {
  return withThoseBelow(
    "",
    buildProgram(programOf("1"), async () => {}, process, true),
  );
}

function withThoseBelow(path: string, command: Command): NamedCommand[] {
  return [{ path, command }, ...command.commands.flatMap((child) => withThoseBelow(`${path} ${child.name()}`.trim(), child))];
}
