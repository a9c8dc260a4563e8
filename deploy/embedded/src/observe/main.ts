import "@brand-records/config/require-node";
import { ConfigError } from "@brand-records/config";
import { Lifecycle } from "@brand-records/lifecycle";
import pc from "picocolors";
import { localFiles } from "../local-files.ts";
import { LaunchError } from "../requirements.ts";
import { openTerminal } from "../terminal.ts";
import { parseObserveConfig } from "./config.ts";
import { observe } from "./observe.ts";
import { findTools } from "./tools.ts";

const terminal = openTerminal(process.stdout);
const life = new Lifecycle({
  info: () => {},
  error: (fields, message) => terminal.say(pc.red(`${"resource" in fields ? String(fields.resource) : ""} ${message}`)),
});

let ending = false;
let launching: Promise<void> = Promise.resolve();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => void end(0));

launching = start();
await launching;

async function start(): Promise<void> {
  try {
    const config = parseObserveConfig(process.env);
    const tools = findTools(process.env["PATH"] ?? "");
    await observe(config, tools, localFiles(config.LOCAL_DIR), life, terminal, {
      exited(program) {
        terminal.say(pc.red(`${program} ended unexpectedly: see .local/logs/${program}.log`));
        void end(1);
      },
    });
  } catch (error) {
    terminal.say(pc.red(error instanceof LaunchError || error instanceof ConfigError ? error.message : String(error)));
    await life.stop();
    process.exit(1);
  }
}

/** Once, however often it is called: Ctrl-C arrives twice, from the terminal and through npm. Waits for a start under way, at most 20 s for each program. */
async function end(exitCode: number): Promise<void> {
  if (ending) return;
  ending = true;
  terminal.step("Stopping");
  await launching;
  const clean = await life.stop();
  terminal.say(clean ? "Stopped." : pc.red("Stopped, but not cleanly: see the messages above."));
  process.exit(clean ? exitCode : 1);
}
