import { PassThrough, Readable, Writable } from "node:stream";
import { runBrandctl } from "../src/run.ts";
import type { Screen, Terminal } from "../src/terminal.ts";

/** A screen that records what is written to it. */
export class Recorder extends Writable implements Screen {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  text = "";

  constructor(isTTY: boolean) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
    this.columns = isTTY ? 120 : undefined;
  }

  override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

export interface Surroundings {
  readonly stdin?: string | Buffer | PassThrough;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly isTerminal?: boolean;
  readonly interrupted?: AbortSignal;
  readonly stdout?: Recorder;
  /** Grows while the command runs. */
  readonly stderr?: Recorder;
}

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Parses standard output, which must be one JSON document. */
  json<T>(): T;
}

/** The outcome of a command that fails, saying this. */
export const failing = (code: number, text: string): Partial<Outcome> => ({
  code,
  stdout: "",
  stderr: expect.stringContaining(text) as string,
});

/** A terminal at which this line is typed. */
export const typing = (line: string): Surroundings => pressing(`${line}\n`);

/** A terminal at which these keys are pressed. */
export function pressing(keys: string): Surroundings {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  stdin.write(keys);
  return { stdin, isTerminal: true };
}

export const CTRL_C = "\u0003";
export const CTRL_D = "\u0004";

/** Runs one command line as main.ts does. In the default folder there is no run file. */
export async function brandctl(args: readonly string[], surroundings: Surroundings = {}): Promise<Outcome> {
  const { stdin = "", env = {}, cwd = "/", isTerminal = false, interrupted = new AbortController().signal } = surroundings;
  const stdout = surroundings.stdout ?? new Recorder(isTerminal);
  const stderr = surroundings.stderr ?? new Recorder(isTerminal);
  const input = stdin instanceof PassThrough ? stdin : Readable.from([Buffer.from(stdin)]);
  const terminal: Terminal = { stdin: input, stdout, stderr, env, cwd, interrupted };
  const code = await runBrandctl(args, terminal);
  return { code, stdout: stdout.text, stderr: stderr.text, json: <T>() => JSON.parse(stdout.text) as T };
}
