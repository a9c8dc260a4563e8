import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";

/** The brands' command line as its package has it. */
const PROGRAM = "clients/cli/bin/brand-records.js";

export interface Ended {
  /** Null if it was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  /** Its whole environment, beside PATH. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Buffer;
}

interface Terminal {
  readonly stdin: Readable;
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  readonly env: Readonly<Record<string, string>>;
  readonly interrupted: AbortSignal;
}

/** The command line's own module: its package exports nothing. */
const { runCli } = jest.requireActual<{ runCli(args: readonly string[], terminal: Terminal, version: string): Promise<number> }>(
  "../clients/cli/src/run.ts",
);

/** Runs brand-records in this process, which takes a tenth of the time of one of its own. @param columns of its terminal; none without */
export async function brandRecords(
  args: readonly string[],
  { env = {}, input = "", columns }: Surroundings & { readonly columns?: number } = {},
): Promise<Ended> {
  const screen = (): PassThrough => Object.assign(new PassThrough(), columns !== undefined && { isTTY: true, columns });
  const [stdout, stderr] = [screen(), screen()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const { signal: interrupted } = new AbortController();
  const code = await runCli(args, { stdin: Readable.from([Buffer.from(input)]), stdout, stderr, env, interrupted }, "0.0.0");
  stdout.end();
  stderr.end();
  const [shown, remarks] = await printed;
  return { code, stdout: shown, stderr: remarks };
}

/** Runs brand-records as a user does. @param onStart called with the process as soon as it runs */
export async function brandRecordsProcess(
  args: readonly string[],
  { env = {}, input = "", onStart }: Surroundings & { readonly onStart?: (child: ChildProcessWithoutNullStreams) => void } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: { PATH: process.env["PATH"], ...env } });
  onStart?.(child);
  // It may end before it reads.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: code as number | null, stdout, stderr };
}
