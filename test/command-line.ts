import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
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
  /** Called with the process as soon as it runs. */
  readonly onStart?: (child: ChildProcessWithoutNullStreams) => void;
}

/** Runs brand-records as a user does, in a process of its own. */
export async function brandRecords(args: readonly string[], { env = {}, input = "", onStart }: Surroundings = {}): Promise<Ended> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: { PATH: process.env["PATH"], ...env } });
  onStart?.(child);
  // It may end before it reads.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: code as number | null, stdout, stderr };
}
