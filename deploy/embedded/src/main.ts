import "@brand-records/config/require-node";
import { ConfigError } from "@brand-records/config";
import { Lifecycle } from "@brand-records/lifecycle";
import pc from "picocolors";
import { parseConfig } from "./config.ts";
import { launch } from "./launch.ts";
import { localFiles } from "./local-files.ts";
import { LaunchError } from "./requirements.ts";
import { openTerminal } from "./terminal.ts";

/** Ctrl-C reaches this process twice, from the terminal and through npm. Both count as one interruption. */
const SAME_INTERRUPTION_MS = 1_000;

const terminal = openTerminal(process.stdout);
const life = new Lifecycle({
  info: () => {},
  error: (fields, message) => terminal.say(pc.red(`${"resource" in fields ? String(fields.resource) : ""} ${message}`)),
});

const interruption = new AbortController();
const kill = new AbortController();
let interruptedAt = 0;
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(name, () => {
    if (!interruption.signal.aborted) {
      interruptedAt = Date.now();
      interruption.abort();
      void stop();
    } else if (!kill.signal.aborted && Date.now() - interruptedAt > SAME_INTERRUPTION_MS) {
      terminal.step("Ending everything now");
      kill.abort();
    }
  });
}

const launching = start();
await launching;

/**
 * Waits until the start has ended, because `life` stops only what it owns when it is called. A second interruption makes both
 * immediate: the processes are killed. What they leave (run file, lock) is removed in either case before this process exits.
 */
async function stop(): Promise<void> {
  terminal.step("Stopping");
  await launching;
  const clean = await life.stop();
  if (kill.signal.aborted) {
    terminal.say("Stopped immediately: work in progress was cut off.");
    process.exit(130);
  }
  terminal.say(clean ? "Stopped." : pc.red("Stopped, but not cleanly: see the messages above."));
  process.exit(clean ? 0 : 1);
}

async function start(): Promise<void> {
  try {
    const config = parseConfig(process.env);
    await launch(config, localFiles(config.LOCAL_DIR), life, terminal, process.env, {
      interrupted: interruption.signal,
      killed: kill.signal,
    });
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
