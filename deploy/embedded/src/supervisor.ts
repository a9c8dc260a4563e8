import { fork, spawn, type ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { EX_CONFIG } from "@brand-records/lifecycle";
import { LogFile } from "./log-file.ts";
import { LaunchError } from "./requirements.ts";

/** All processes share one machine with a developer's programs. Idle they have a third less memory than with the arguments of production. */
const LOCAL_NODE_ARGUMENTS = ["--enable-source-maps", "--max-semi-space-size=1", "--optimize-for-size"];
const BACK_OFF_MS_MIN = 100;
const BACK_OFF_MS_MAX = 5_000;
/** A process that lived this long was healthy: the next back-off starts at the minimum. */
const HEALTHY_AFTER_MS = 10_000;
const STOP_WITHIN_MS = 25_000;

interface Supervised {
  readonly name: string;
  /** File to which stdout and stderr are appended. */
  readonly logFile: string;
}

/** One of ours, which says when it is ready, and rotates its log: `LOG_FILE`. */
export interface Program extends Supervised {
  /** Compiled main module. */
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A program of others. It is not started again: its end is reported alone. */
export interface Tool extends Supervised {
  readonly command: string;
  readonly args: readonly string[];
  /** Responds with 200 once it is ready. */
  readonly readyUrl: string;
}

export interface SupervisorEvents {
  /** The set of live processes changed. */
  changed(): void;
  died(name: string, reason: string, backOffMs: number): void;
  recovered(name: string): void;
  /** It runs, but what it prints is lost, or its log grows. */
  unlogged(name: string, error: unknown): void;
}

/** Keeps one process running until it is stopped: restarts a program after every exit, with growing pauses. */
export class Supervisor {
  readonly #program: Program | Tool;
  readonly #logFile: LogFile;
  readonly #events: SupervisorEvents;
  #child: ChildProcess | undefined;
  #restart: NodeJS.Timeout | undefined;
  #backOffMs = BACK_OFF_MS_MIN;
  #hasStarted = false;
  #stopping = false;

  constructor(program: Program | Tool, events: SupervisorEvents) {
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
    const program = this.#program;
    const unlogged = (error: unknown): void => this.#events.unlogged(program.name, error);
    const output = this.#logFile.open(unlogged);
    const startedAt = Date.now();
    const child = "script" in program ? forked(program, output) : spawned(program, output);
    if ("script" in program) this.#logFile.close();
    else this.#logFile.keepRotated(unlogged);
    this.#child = child;
    this.#events.changed();
    return new Promise((resolve, reject) => {
      if ("script" in program) child.once("message", () => resolve());
      else untilResponding(program.readyUrl, child).then(resolve, reject);
      child.once("error", (error) => {
        reject(error);
        if (child.pid !== undefined) return;
        // It could not be spawned: no exit event follows, which a stop would wait for.
        this.#ended();
        this.#restartLater(error.message, 0);
      });
      child.once("exit", (code, signal) => {
        this.#ended();
        const reason = signal ?? `exit code ${code}`;
        reject(code === EX_CONFIG ? new RefusedStartError(reason) : new Error(reason));
        this.#restartLater(reason, Date.now() - startedAt);
      });
    });
  }

  #ended(): void {
    this.#child = undefined;
    this.#logFile.close();
    this.#events.changed();
  }

  /** Left out after a failed first start, whose error `start` throws. */
  #restartLater(reason: string, livedMs: number): void {
    if (this.#stopping || !this.#hasStarted) return;
    if (livedMs >= HEALTHY_AFTER_MS) this.#backOffMs = BACK_OFF_MS_MIN;
    this.#events.died(this.#program.name, reason, this.#backOffMs);
    if (!("script" in this.#program)) return;
    this.#restart = setTimeout(() => {
      this.#spawn().then(
        () => this.#events.recovered(this.#program.name),
        () => {}, // The handlers above have reported it and scheduled the next restart.
      );
    }, this.#backOffMs);
    this.#backOffMs = Math.min(this.#backOffMs * 2, BACK_OFF_MS_MAX);
  }
}

/** Detached: Ctrl-C signals the whole foreground process group. Otherwise all processes would stop at once, during calls to each other. */
const forked = ({ script, env }: Program, output: number | "ignore"): ChildProcess =>
  fork(script, { execArgv: LOCAL_NODE_ARGUMENTS, env, stdio: ["ignore", output, output, "ipc"], detached: true });

const spawned = ({ command, args }: Tool, output: number | "ignore"): ChildProcess =>
  spawn(command, args, { stdio: ["ignore", output, output], detached: true });

const READY_MS_MAX = 20_000;
const PING_EVERY_MS = 100;

async function untilResponding(url: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + READY_MS_MAX;
  while (!(await responds(url))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error("it ended");
    if (performance.now() > deadline) throw new Error(`no response at ${url}`);
    await sleep(PING_EVERY_MS);
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

/** The process has printed why it cannot run. */
class RefusedStartError extends Error {
  override readonly name = "RefusedStartError";
}

/** Fits a stack trace with the source line that Node prints above it. */
const TAIL_LINES = 25;
