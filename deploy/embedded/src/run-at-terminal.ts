import { ConfigError } from "@brand-records/config";
import { Lifecycle } from "@brand-records/lifecycle";
import pc from "picocolors";
import type { Interruption, Terminal } from "./launch.ts";
import { LaunchError } from "./requirements.ts";
import { openTerminal } from "./terminal.ts";

/** Ctrl-C reaches this process twice, from the terminal and through npm. Both count as one interruption. */
const SAME_INTERRUPTION_MS = 1_000;

export interface Run {
  readonly life: Lifecycle;
  readonly terminal: Terminal;
  readonly interruption: Interruption;
  /** Stops everything and ends this process: with 1, as something has failed. */
  fail(): void;
}

/**
 * Runs what a person starts at a terminal, until a signal. The start is waited for then, because `life` stops only what it owns when it is
 * called. A second signal makes both immediate: the processes are killed. What they leave (run file, lock) is removed in either case before
 * this process exits.
 */
export async function runAtTerminal(start: (run: Run) => Promise<void>): Promise<void> {
  const terminal = openTerminal(process.stdout);
  const life = new Lifecycle({
    info: () => {},
    error: (fields, message) => terminal.say(pc.red(`${"resource" in fields ? String(fields.resource) : ""} ${message}`)),
  });
  const interruption = new AbortController();
  const kill = new AbortController();
  let interruptedAt = 0;

  const stop = async (exitCode: number): Promise<void> => {
    if (interruption.signal.aborted) return;
    interruptedAt = Date.now();
    interruption.abort();
    terminal.step("Stopping");
    await starting;
    const clean = await life.stop();
    if (kill.signal.aborted) {
      terminal.say("Stopped immediately: work in progress was cut off.");
      process.exit(130);
    }
    terminal.say(clean ? "Stopped." : pc.red("Stopped, but not cleanly: see the messages above."));
    process.exit(clean ? exitCode : 1);
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (!interruption.signal.aborted) void stop(0);
      else if (!kill.signal.aborted && Date.now() - interruptedAt > SAME_INTERRUPTION_MS) {
        terminal.step("Ending everything now");
        kill.abort();
      }
    });
  }

  const signals = { interrupted: interruption.signal, killed: kill.signal };
  const starting = start({ life, terminal, interruption: signals, fail: () => void stop(1) }).catch(async (error: unknown) => {
    // An interrupted start has not failed: `stop` ends the process.
    if (interruption.signal.aborted) return;
    terminal.say(pc.red(explain(error)));
    await life.stop();
    process.exit(1);
  });
  await starting;
}

function explain(error: unknown): string {
  if (error instanceof LaunchError || error instanceof ConfigError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
