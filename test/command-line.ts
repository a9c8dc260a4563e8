import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
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

interface ProcessSurroundings extends Surroundings {
  readonly cwd?: string;
  /** Called with the process as soon as it runs. */
  readonly onStart?: (child: ChildProcessWithoutNullStreams) => void;
}

/** Runs brand-records as a user does. */
export const brandRecordsProcess = (args: readonly string[], surroundings?: ProcessSurroundings): Promise<Ended> =>
  runNode(PROGRAM, args, surroundings);

/** Runs brandctl as an operator does. */
export const brandctl = (args: readonly string[], surroundings: ProcessSurroundings): Promise<Ended> =>
  runNode(join(process.cwd(), "brandctl/bin/brandctl.js"), args, surroundings);

/** The settings by which brandctl and others find services. */
export const addressSettings = (addresses: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(addresses).map(([name, address]) => [`${name.toUpperCase()}_ADDRESS`, address]));

export async function runNode(
  script: string,
  args: readonly string[],
  { env = {}, input = "", cwd, onStart }: ProcessSurroundings = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [script, ...args], { cwd, env: { PATH: process.env["PATH"], ...env } });
  onStart?.(child);
  // It may end before it reads.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: code as number | null, stdout, stderr };
}
