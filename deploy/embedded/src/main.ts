import "@brand-records/config/require-node";
import { parseArgs } from "node:util";
import { parseConfig } from "./config.ts";
import { launch } from "./launch.ts";
import { localFiles } from "./local-files.ts";
import { runAtTerminal } from "./run-at-terminal.ts";

await runAtTerminal(async ({ life, terminal, interruption }) => {
  const { cells } = parseArgs({ options: { cells: { type: "string" } } }).values;
  const config = parseConfig({ ...process.env, ...(cells !== undefined && { CELLS: cells }) });
  await launch(config, localFiles(config.LOCAL_DIR), life, terminal, process.env, interruption);
});
