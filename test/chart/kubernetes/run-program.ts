import { execFile } from "node:child_process";

export interface RunOptions {
  readonly cwd?: string;
  /** Beside this process' environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: five minutes. */
  readonly timeoutMs?: number;
  readonly input?: string;
  /** What to do if the command is missing. */
  readonly cure: string;
}

/** 127: `nice` and shells did not find the command. */
const isMissing = (code: unknown): boolean => code === "ENOENT" || code === 127;

/** Runs a program and returns its stdout. @throws Error with its output, or with the cure if the program is missing */
export function runProgram(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { cwd = process.cwd(), env = {}, timeoutMs = 5 * 60_000, input, cure } = options;
  return new Promise((resolve, reject) => {
    const settings = { cwd, env: { ...process.env, ...env }, timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(command, args, settings, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if (isMissing(error.code)) reject(new Error(cure));
      else reject(new Error(`${command} ${args.join(" ")} failed (${error.code ?? error.signal}):\n${stdout}\n${stderr}`));
    });
    child.stdin?.on("error", () => {}); // It ended before it read everything; its exit code says why.
    child.stdin?.end(input);
  });
}
