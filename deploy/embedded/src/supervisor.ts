import { fork, type ChildProcess } from "node:child_process";
import { EX_CONFIG, NODE_ARGUMENTS } from "@brand-records/lifecycle";
import { LogFile } from "./log-file.ts";
import { LaunchError } from "./requirements.ts";

const BACK_OFF_MS_MIN = 100;
const BACK_OFF_MS_MAX = 5_000;
/** A process that lived this long was healthy: the next back-off starts at the minimum. */
const HEALTHY_AFTER_MS = 10_000;
const STOP_WITHIN_MS = 25_000;

export interface Program {
  readonly name: string;
  /** Compiled main module. */
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
  /** File to which it appends stdout and stderr, and which it rotates: `LOG_FILE`. */
  readonly logFile: string;
}

export interface SupervisorEvents {
  /** The set of live processes changed. */
  changed(): void;
  died(name: string, reason: string, backOffMs: number): void;
  recovered(name: string): void;
  /** It runs, but what it prints is lost. */
  unlogged(name: string, error: unknown): void;
}

/** Keeps one process running until it is stopped: restarts it after every exit, with growing pauses. */
export class Supervisor {
  readonly #program: Program;
  readonly #logFile: LogFile;
  readonly #events: SupervisorEvents;
  #child: ChildProcess | undefined;
  #restart: NodeJS.Timeout | undefined;
  #backOffMs = BACK_OFF_MS_MIN;
  #hasStarted = false;
  #stopping = false;

  constructor(program: Program, events: SupervisorEvents) {
    this.#program = program;
    this.#logFile = new LogFile(program.logFile);
    this.#events = events;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** @throws LaunchError with the reason, or with the end of the output, if this first start fails */
  async start(): Promise<void> {
    try {
      await this.#spawn();
      this.#hasStarted = true;
    } catch (error) {
      const { name } = this.#program;
      const output = this.#logFile.outputSinceOpened().trimEnd().split("\n");
      const text =
        error instanceof RefusedStartError
          ? `${name} did not start. ${output.filter((line) => !line.startsWith("{")).join("\n")}`
          : `${name} did not start: ${String(error)}\n${output.slice(-TAIL_LINES).join("\n")}`;
      throw new LaunchError(text, { cause: error });
    }
  }

  /** Lets the process finish its work and resolves when it has exited; kills it after 25 s. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#restart);
    const child = this.#child;
    if (child === undefined) return;
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    const kill = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MS);
    await exited;
    clearTimeout(kill);
  }

  /** Ends the process immediately, and does not start it again. */
  kill(): void {
    this.#stopping = true;
    clearTimeout(this.#restart);
    this.#child?.kill("SIGKILL");
  }

  #spawn(): Promise<void> {
    const { name, script, env } = this.#program;
    const output = this.#logFile.open((error) => this.#events.unlogged(name, error));
    const startedAt = Date.now();
    const child = fork(script, {
      execArgv: [...NODE_ARGUMENTS],
      env,
      stdio: ["ignore", output, output, "ipc"],
      // Ctrl-C signals the whole foreground process group. Without this, all processes would stop at once, during calls to each other.
      detached: true,
    });
    this.#logFile.close();
    this.#child = child;
    this.#events.changed();
    return new Promise((resolve, reject) => {
      child.once("message", () => resolve());
      child.once("error", (error) => {
        reject(error);
        // The fork itself failed: no exit event follows.
        if (child.pid === undefined) this.#restartLater(error.message, 0);
      });
      child.once("exit", (code, signal) => {
        this.#child = undefined;
        this.#events.changed();
        const reason = signal ?? `exit code ${code}`;
        reject(code === EX_CONFIG ? new RefusedStartError(reason) : new Error(reason));
        this.#restartLater(reason, Date.now() - startedAt);
      });
    });
  }

  /** Left out after a failed first start, whose error `start` throws. */
  #restartLater(reason: string, livedMs: number): void {
    if (this.#stopping || !this.#hasStarted) return;
    if (livedMs >= HEALTHY_AFTER_MS) this.#backOffMs = BACK_OFF_MS_MIN;
    this.#events.died(this.#program.name, reason, this.#backOffMs);
    this.#restart = setTimeout(() => {
      this.#spawn().then(
        () => this.#events.recovered(this.#program.name),
        () => {}, // The handlers above have reported it and scheduled the next restart.
      );
    }, this.#backOffMs);
    this.#backOffMs = Math.min(this.#backOffMs * 2, BACK_OFF_MS_MAX);
  }
}

/** The process has printed why it cannot run. */
class RefusedStartError extends Error {
  override readonly name = "RefusedStartError";
}

/** Fits a stack trace with the source line that Node prints above it. */
const TAIL_LINES = 25;
