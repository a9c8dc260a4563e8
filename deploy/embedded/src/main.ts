import { ConfigError } from "@brand-records/config";
import { Lifecycle } from "@brand-records/lifecycle";
import pc from "picocolors";
import { parseConfig } from "./config.ts";
import { launch } from "./launch.ts";
import { localFiles } from "./local-files.ts";
import { LaunchError, requireNode } from "./requirements.ts";
import { openTerminal } from "./terminal.ts";

/** Ctrl-C reaches this process twice, from the terminal and through npm. Both count as one interruption. */
const SAME_INTERRUPTION_MS = 1_000;

const terminal = openTerminal(process.stdout);
const life = new Lifecycle({
  info: () => {},
  error: (fields, message) => terminal.say(pc.red(`${"resource" in fields ? String(fields.resource) : ""} ${message}`)),
});

const interruption = new AbortController();
let interruptedAt = 0;
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(name, () => {
    const isRepeated = interruption.signal.aborted && Date.now() - interruptedAt > SAME_INTERRUPTION_MS;
    if (isRepeated) process.exit(130);
    if (interruption.signal.aborted) return;
    interruptedAt = Date.now();
    interruption.abort();
    void stop();
  });
}

const launching = start();
await launching;

/** Waits until the start has ended, because `life` stops only what it owns when it is called. */
async function stop(): Promise<void> {
  terminal.step("Stopping");
  await launching;
  const clean = await life.stop();
  terminal.say(clean ? "Stopped." : pc.red("Stopped, but not cleanly: see the messages above."));
  process.exit(clean ? 0 : 1);
}

async function start(): Promise<void> {
  try {
    requireNode(process.versions.node);
    const config = parseConfig(process.env);
    await launch(config, localFiles(config.LOCAL_DIR), life, terminal, process.env, interruption.signal);
    life.markReady();
  } catch (error) {
    // An interrupted start has not failed: `stop` ends the process.
    if (interruption.signal.aborted) return;
    terminal.say(pc.red(explain(error)));
    await life.stop();
    process.exit(1);
  }
}

function explain(error: unknown): string {
  if (error instanceof LaunchError || error instanceof ConfigError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
