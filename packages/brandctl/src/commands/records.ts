import { Command } from "commander";
import type { Shell } from "../shell.ts";
import { generateCommand } from "./generate.ts";
import { importCommand } from "./import.ts";

export function recordsCommand(shell: Shell): Command {
  const records = new Command("records").description("bring records in, or make synthetic ones");
  records.addCommand(importCommand(shell));
  records.addCommand(generateCommand(shell));
  return records;
}
