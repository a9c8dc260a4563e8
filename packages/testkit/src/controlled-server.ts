import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { eventually } from "./eventually.ts";
import { killWithParent } from "./start-process.ts";

/** A backing service that a test freezes, kills and starts again. It ends with the process that started it. */
export interface ControlledServer {
  /** Process id of the current run, or of the last one; 0 before the first start. */
  readonly pid: number;
  /** Keeps its connections and accepts more, but responds to nothing (SIGSTOP). */
  freeze(): Promise<void>;
  /** Responds again, also to what arrived while it was frozen. */
  thaw(): Promise<void>;
  /** Ends it as a power cut would (SIGKILL). Resolves when its port is closed. */
  kill(): Promise<void>;
  /** Starts it for the first time or after `kill`, always on the same port. Resolves when it is ready. */
  start(): Promise<void>;
  /** Ends it and removes its data. Callable any number of times, in any state. */
  stop(): Promise<void>;
}

/** Another process may take the free port first. */
const START_ATTEMPTS_MAX = 5;

/** Starts what `reserve` returns; after a failure stops it and tries the next, up to five times. */
export async function startReserved<T extends ControlledServer>(reserve: () => T | Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const server = await reserve();
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.stop();
      if (attempt === START_ATTEMPTS_MAX) throw error;
    }
  }
}

const OUTPUT_CHARS_KEPT = 20_000;

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Default: a minute. */
  readonly readyMsMax?: number;
  /** Rejects until the server is ready. */
  ping(): Promise<void>;
}

/** A server that runs as a child process. */
export abstract class ControlledProcess implements ControlledServer {
  #child: ChildProcess | undefined;

  abstract start(): Promise<void>;
  abstract stop(): Promise<void>;

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** @throws with the server's output if it does not become ready */
  protected async launch({ command, args, cwd, readyMsMax = 60_000, ping }: Launch): Promise<void> {
    if (this.#isRunning()) throw new Error(`${command} ${this.pid} is still running`);
    const child = spawn(command, args, { cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => (output = (output + chunk.toString()).slice(-OUTPUT_CHARS_KEPT)));
    }
    child.once("error", (error) => (output += String(error)));
    killWithParent(child);
    const failure = await eventually(async () => !this.#isRunning() || (await ping()), { timeoutMs: readyMsMax }).then(
      () => undefined,
      (cause: unknown) => ({ cause }),
    );
    // After an exit, the ping may have reached another process on the same port.
    if (failure !== undefined || !this.#isRunning()) throw new Error(`${command} did not start: ${output}`, failure);
  }

  async freeze(): Promise<void> {
    process.kill(this.pid, "SIGSTOP");
  }

  async thaw(): Promise<void> {
    process.kill(this.pid, "SIGCONT");
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.#isRunning()) return;
    child.ref();
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  #isRunning(): boolean {
    const child = this.#child;
    return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
  }
}
