import type { Command } from "commander";
import { UsageFailure } from "../failure.ts";

/** Lists take the brand as their argument everywhere; where what they list is named by --brand elsewhere, that way too. */
export function brandOf(argument: string | undefined, option: string | undefined, command: Command): string {
  const help = `See brandctl ${command.parent?.name() ?? ""} ${command.name()} --help`;
  if (argument !== undefined && option !== undefined && argument !== option) {
    throw new UsageFailure("Two brands are named: one as the argument, another with --brand", help);
  }
  const brand = argument ?? option;
  if (brand === undefined) throw new UsageFailure("the brand is missing: --brand <id>", help);
  return brand;
}
