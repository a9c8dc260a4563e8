import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { ControlledServer } from "./controlled-server.ts";
import { eventually } from "./eventually.ts";
import { killWithParent } from "./kill-with-parent.ts";

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
