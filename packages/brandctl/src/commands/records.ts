import { Command } from "commander";
import type { Shell } from "../shell.ts";
import { generateCommand } from "./generate.ts";
import { importCommand } from "./import.ts";
import { setStatusCommand } from "./set-status.ts";

export function recordsCommand(shell: Shell): Command {
  const records = new Command("records").description("bring records in, make synthetic ones, or change their status");
  records.addCommand(importCommand(shell));
  records.addCommand(generateCommand(shell));
  records.addCommand(setStatusCommand(shell));
  return records;
}
