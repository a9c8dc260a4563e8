import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { rotateLog } from "@brand-records/telemetry";
import { LaunchError } from "../requirements.ts";

const READY_MS_MAX = 20_000;
const PING_EVERY_MS = 100;
const STOP_WITHIN_MS = 10_000;
const LINES_SHOWN = 10;
const ROTATE_EVERY_MS = 1_000;

interface ChildOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /**
   * File into which its output is written; it is emptied first. This process rotates it; lines that the child writes in these
   * milliseconds are lost.
   */
  readonly logFile: string;
  /** Responds with 200 once it is ready. */
  readonly readyUrl: string;
  /** It ended although nothing stopped it. */
  onExit(): void;
  /** Called once if its log cannot be rotated, for example because the disk is full; the log then grows. */
  onLogError(error: unknown): void;
}

/** A program of others, which runs until it is stopped. */
export class Child {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #hasExited = false;
  #isReady = false;
  #stopping = false;

  private constructor(options: ChildOptions) {
    const { command, args, logFile } = options;
    mkdirSync(dirname(logFile), { recursive: true });
    // Appended to: after a rotation, the child goes on at the beginning of the empty file.
    const output = openSync(logFile, "a+");
    ftruncateSync(output);
    // A process group of its own: Ctrl-C reaches this process, which then stops the child in order.
    this.#child = spawn(command, args, { stdio: ["ignore", output, output], detached: true });
    const rotation = setInterval(() => {
      try {
        rotateLog(output, logFile);
      } catch (error) {
        clearInterval(rotation);
        options.onLogError(error);
      }
    }, ROTATE_EVERY_MS);
    this.#exited = new Promise((resolve) => {
      const onEnd = (): void => {
        if (this.#hasExited) return;
        this.#hasExited = true;
        clearInterval(rotation);
        closeSync(output);
        resolve();
        if (this.#isReady && !this.#stopping) options.onExit();
      };
      this.#child.once("exit", onEnd);
      this.#child.once("error", onEnd);
    });
  }

  /** @throws LaunchError with the end of its output if it does not become ready */
  static async start(options: ChildOptions): Promise<Child> {
    const child = new Child(options);
    const deadline = performance.now() + READY_MS_MAX;
    while (!child.#hasExited && performance.now() < deadline) {
      if (await responds(options.readyUrl)) {
        child.#isReady = true;
        return child;
      }
      await sleep(PING_EVERY_MS);
    }
    await child.stop();
    throw new LaunchError(`${options.name} did not start:\n${lastLines(options.logFile)}`);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves when it has exited; kills it after 10 s. */
  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#hasExited) return;
    this.#child.kill("SIGTERM");
    const kill = setTimeout(() => this.#child.kill("SIGKILL"), STOP_WITHIN_MS);
    await this.#exited;
    clearTimeout(kill);
  }
}

async function responds(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    // The port refuses: nothing listens yet.
    return false;
  }
}

function lastLines(path: string): string {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return "";
  return readFileSync(path, "utf8").trimEnd().split("\n").slice(-LINES_SHOWN).join("\n");
}
