import "@brand-records/config/require-node";
import pc from "picocolors";
import { localFiles } from "../local-files.ts";
import { runAtTerminal } from "../run-at-terminal.ts";
import { parseObserveConfig } from "./config.ts";
import { observe } from "./observe.ts";
import { findTools } from "./tools.ts";

await runAtTerminal(async ({ life, terminal, interruption, fail }) => {
  const config = parseObserveConfig(process.env);
  const tools = findTools(process.env["PATH"] ?? "");
  await observe(config, tools, localFiles(config.LOCAL_DIR), life, terminal, interruption, (program) => {
    terminal.say(pc.red(`${program} ended unexpectedly: see .local/logs/${program}.log`));
    fail();
  });
});
