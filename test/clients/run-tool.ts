import { execFile } from "node:child_process";
import { join } from "node:path";

/** What integrators might write. */
export const PROGRAMS = join(process.cwd(), "test/clients/programs");

const RUN_MS_MAX = 5 * 60_000;

export interface Tool {
  readonly command: string;
  /** What to install if the command is missing. */
  readonly install: string;
}

/** How to run a program. */
export interface Program {
  readonly tool: Tool;
  readonly args: readonly string[];
}

interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a program for at most five minutes, and returns its stdout.
 *
 * @throws Error with its output if it fails, or with what to install if it is missing
 */
export function runTool({ command, install }: Tool, args: readonly string[], { cwd, env = {} }: RunOptions): Promise<string> {
  const options = { cwd, env: { ...process.env, ...env }, timeout: RUN_MS_MAX, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve, reject) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if (error.code === "ENOENT") reject(new Error(`${command} is not on the PATH. This test needs it: install ${install}.`));
      else reject(new Error(`${command} ${args.join(" ")} failed (${error.code ?? error.signal}):\n${stdout}\n${stderr}`));
    });
  });
}
